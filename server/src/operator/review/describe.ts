import { createTwoFilesPatch } from 'diff';
import type { PendingReview, ReviewedAgent, ReviewedVersion, ReviewSheet } from '../../registration/index.js';
import { withoutHidden } from '../../platform/clean-text.js';
import { onOneLine } from '../on-one-line.js';
import type { TestResult } from './test-run.js';

/** Lines around a difference. */
const CONTEXT = 3;

/** A registration that waits, in a few lines. A creator's words are data: without characters that steer a terminal. */
export function describePending(row: PendingReview): string {
  const terms =
    row.rental_model === null || row.price_lamports === null
      ? 'terms not named yet'
      : `${row.rental_model}, ${row.price_lamports} lamports`;
  return [
    `${row.id}  (waits since ${row.created_at.toISOString()})`,
    `  version      ${row.version}`,
    `  title        ${onOneLine(row.title)}`,
    `  description  ${onOneLine(row.description)}`,
    `  category     ${row.category.join(', ')}`,
    `  terms        ${terms}`,
    `  creator      ${row.creator}`,
    `  manifest     ${row.metadata_uri}`,
    ...(row.unreachable === null ? [] : [`  NOT REACHED  ${onOneLine(row.unreachable.message)}`]),
  ].join('\n');
}

/** The sheet of a listing as text. */
export function describeSheet(sheet: ReviewSheet): string {
  const { present, approved } = sheet;
  const facts: [string, string | null][] = [
    ['title', onOneLine(sheet.title)],
    ['creator', sheet.creator],
    ['registered', sheet.registered_at],
    ['review', [sheet.review_state, sheet.review_reason].filter((part) => part !== null).join(': ')],
    ['status', sheet.status],
    ['terms', describeTerms(sheet)],
    ['manifest', sheet.metadata_uri],
    ['agent', describeProbe(sheet.probe)],
    ['sample input', jsonLine(sheet.sample_input)],
    ['sample output', jsonLine(sheet.sample_output)],
    ['no sample', sheet.sample_problem],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`  ${name.padEnd(14)} ${shown(value)}`],
  );
  return [
    `${sheet.listing_id}, version ${present.version}`,
    ...lines,
    '',
    shown(documentOf(present)).trimEnd(),
    ...(sheet.readme === null ? [] : ['', 'readme:', indented(shown(sheet.readme))]),
    '',
    ...(approved ? describeChange(approved, present) : []),
  ]
    .join('\n')
    .trimEnd();
}

/** A version as lines of text: two of them can be compared. */
function documentOf({ agent, ...version }: ReviewedVersion): string {
  return [
    `description: ${version.description ?? 'not kept'}`,
    `category: ${version.category?.join(', ') ?? 'not kept'}`,
    `timeout: ${version.timeout_seconds} s`,
    ...(agent ? describeAgent(agent) : ['agent: its secrets were removed, and it runs no more']),
    'input_schema:',
    indented(JSON.stringify(version.input_schema, null, 2)),
    'output_schema:',
    indented(JSON.stringify(version.output_schema, null, 2)),
    '',
  ].join('\n');
}

/** A test run and its end as text. */
export function describeResult({ task, input, duration_ms, ...end }: TestResult): string {
  const told =
    'problem' in end ? ['problem:', indented(shown(end.problem))] : ['output:', indented(textOf(end.output))];
  return [
    '',
    `Test run (${duration_ms} ms, charged to no one)`,
    `  task   ${shown(task)}`,
    `  input  ${textOf(input)}`,
    ...told,
  ].join('\n');
}

function describeAgent(agent: ReviewedAgent): string[] {
  if (agent.mode === 'connected') return [`endpoint: ${agent.origin ?? 'not a URL'}`];
  const tools = agent.tools.map(({ name, scope }) => `${name} (${scope})`).join(', ');
  return [
    `model: ${[agent.provider, agent.model].filter((part) => part !== null).join(' ')} at ${agent.origin ?? 'no address'}`,
    `model key: ${agent.has_model_key ? 'given' : 'none'}`,
    `tools: ${tools || 'none'}`,
    'system_prompt:',
    indented(agent.system_prompt),
  ];
}

function describeChange(approved: NonNullable<ReviewSheet['approved']>, present: ReviewedVersion): string[] {
  const { change } = approved;
  const patch = createTwoFilesPatch(
    `version ${approved.version} (approved)`,
    `version ${present.version}`,
    documentOf(approved),
    documentOf(present),
    undefined,
    undefined,
    { context: CONTEXT },
  );
  const text = patch.replace(/^=+\n/, '').trimEnd();
  return [
    `Since the approved version ${approved.version}, for its renters ${change.kind}${change.reasons.length > 0 ? `: ${change.reasons.join('; ')}` : ''}`,
    shown(text),
  ];
}

function describeTerms({
  rental_model,
  price_lamports,
  min_deposit_lamports,
  free_trial,
}: ReviewSheet): string {
  if (rental_model === null || price_lamports === null) return 'not named yet';
  return [
    `${rental_model}, ${price_lamports} lamports`,
    ...(min_deposit_lamports === null ? [] : [`deposit at least ${min_deposit_lamports}`]),
    ...(free_trial === null ? [] : [`a free first run for ${free_trial}`]),
  ].join(', ');
}

function describeProbe({ requested_at, reached_at, unreachable }: ReviewSheet['probe']): string {
  if (unreachable) return `NOT REACHED since ${unreachable.since}: ${onOneLine(unreachable.message)}`;
  if (reached_at !== null) return `reached at ${reached_at}`;
  return requested_at === null ? 'not probed yet' : `its probe was asked for at ${requested_at}`;
}

/** Text of strangers, whose line breaks stay. */
const shown = (text: string): string => withoutHidden(text.replaceAll('\t', '  '));

const jsonLine = (value: unknown): string | null =>
  value === null || (Array.isArray(value) && value.length === 0) ? null : JSON.stringify(value);

const textOf = (value: unknown): string =>
  shown(typeof value === 'string' ? value : JSON.stringify(value, null, 2));

const indented = (text: string): string => text.replaceAll(/^/gm, '  ');
