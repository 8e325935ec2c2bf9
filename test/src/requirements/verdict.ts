import { idsIn, type Requirement } from './requirement.js';

/** The outcome of one test. A skipped one shows nothing. */
export interface TestOutcome {
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
}

/** The scope of a test run. */
export interface RunScope {
  /** Titles of groups of tests. A group that names a requirement would show nothing. */
  readonly groups: readonly string[];
  /** Whether the run has every test of the repository; only then a missing test is a problem. */
  readonly isFull: boolean;
  /** Whether tests may be left out because this machine lacks a part, for instance Redis. Not on CI. */
  readonly maySkip: boolean;
}

/** The result of a test run for the requirements. */
export interface Verdict {
  /** Each fails the run. */
  readonly problems: string[];
  readonly summary: string;
}

/** Compares the outcome of a run with the requirements. */
export function judge(
  requirements: readonly Requirement[],
  outcomes: readonly TestOutcome[],
  scope: RunScope,
): Verdict {
  const known = new Set(requirements.map(({ id }) => id));
  const shown = new Set<string>();
  const skipped = new Set<string>();
  const unknown = new Set<string>();
  for (const { title, state } of outcomes) {
    for (const id of idsIn(title)) {
      if (!known.has(id)) unknown.add(`No requirement has the id ${id}, which a test names: ${title}`);
      else if (state === 'passed') shown.add(id);
      else if (state === 'skipped') skipped.add(id);
    }
  }
  const problems = [...unknown];
  for (const title of scope.groups) {
    if (idsIn(title).length > 0)
      problems.push(`A group of tests names a requirement; name it in a test: ${title}`);
  }
  const today = requirements.filter(({ later }) => !later);
  const later = requirements.filter((requirement) => requirement.later);
  const shownToday = today.filter(({ id }) => shown.has(id));
  const leftOut = today.filter(({ id }) => scope.maySkip && skipped.has(id) && !shown.has(id));
  if (scope.isFull) {
    for (const { id, area, text } of today) {
      if (leftOut.some((requirement) => requirement.id === id)) continue;
      if (!shown.has(id)) problems.push(`No passing test shows ${id} (${area}): ${text}`);
    }
    for (const { id, area } of later) {
      if (shown.has(id)) problems.push(`${id} (${area}) is shown by a test: it is not for later any more.`);
    }
  }
  const summary =
    `${shownToday.length} of ${today.length} requirements shown` +
    (scope.isFull ? '' : ' by this part of the tests') +
    (scope.isFull && leftOut.length > 0 ? `, ${leftOut.length} left out on this machine` : '') +
    `, ${later.length} are for later`;
  return { problems, summary };
}
