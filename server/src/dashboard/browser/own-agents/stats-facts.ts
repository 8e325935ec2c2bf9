import { RUN_FAILURES, RUN_REFUSALS, type AgentStats, type RunRefusal } from '@agent-rental/contract';
import { visible } from '../markup.js';

const PROBLEM_CHARACTERS = 1_000;

/** The facts beside the charts: results of the nightly runs, reasons of failures, and refused runs. */
export function statsFacts({ failures, refusals, health }: AgentStats): [string, string][] {
  const refused = Object.entries(refusals) as [RunRefusal, number][];
  return [
    ['Nightly run', healthWords(health)],
    ...failures.map(({ class: name, count }): [string, string] => [times(count), `${RUN_FAILURES[name]}.`]),
    ...refused
      .filter(([, count]) => count > 0)
      .map(([name, count]): [string, string] => [`${times(count)}, refused`, `${RUN_REFUSALS[name]}.`]),
  ];
}

function healthWords({ is_checked, checked_at, failed_days: nights, problem }: AgentStats['health']): string {
  if (!is_checked) return 'It is not run at night: listing.health_checks is false.';
  if (nights > 0) {
    const failed = nights === 1 ? 'It failed last night.' : `It failed on the last ${nights} nights.`;
    return problem === null ? failed : `${failed} ${visible(problem, PROBLEM_CHARACTERS)}`;
  }
  return checked_at === null ? 'There was none yet.' : `It worked on ${checked_at.slice(0, 10)}.`;
}

const times = (count: number): string => (count === 1 ? 'Once' : `${count} times`);
