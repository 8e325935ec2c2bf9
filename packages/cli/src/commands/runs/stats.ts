import type { CliEnvironment } from '../../cli-environment.js';
import { UsageError } from '../../errors.js';
import { dayOf } from '../../lists.js';
import { connect, type Connected } from '../../marketplace.js';
import type { MarketplaceOptions } from '../../options.js';
import { listingOf } from '../../project/registrations.js';
import { report } from '../../report.js';

const WINDOWS = ['24h', '7d', '30d'] as const;

type Stats = Awaited<ReturnType<Connected['client']['getAgentStats']>>;

/** `agent-rental stats`: statistics of an own listing's runs. */
export async function statsCommand(
  named: string | undefined,
  options: MarketplaceOptions & { window?: string },
  environment: CliEnvironment,
): Promise<void> {
  const window = WINDOWS.find((known) => known === options.window);
  if (window === undefined) throw new UsageError(`--window is one of ${WINDOWS.join(', ')}.`);
  const { client, url } = connect(options, environment);
  const id = listingOf(named, environment.folder, url);
  const stats = await client.getAgentStats(id, { window }, { signal: environment.signal });
  report(options, environment, stats, linesOf(stats));
}

/** The numbers in lines of 80 columns. */
function linesOf(stats: Stats): string[] {
  const { since, runs, duration_ms: duration, failures, refusals, views, rentals, health } = stats;
  const seconds = (ms: number | null) => (ms === null ? 'no run' : `${(ms / 1000).toFixed(1)} s`);
  const line = (count: number, what: string) => `${String(count).padStart(7)}  ${what}`;
  return [
    `Since ${since.slice(0, 16).replace('T', ' ')} UTC`,
    line(runs.completed, 'completed'),
    line(runs.failed, 'failed'),
    line(runs.undelivered, 'could not be served'),
    `Half within ${seconds(duration.p50)}, 95% within ${seconds(duration.p95)}`,
    ...failures.map(({ class: name, count }) => line(count, name)),
    ...Object.entries(refusals)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => line(count, `refused: ${name}`)),
    ...(views === undefined ? [] : [line(views, 'views of its page, bots included')]),
    ...(rentals === undefined ? [] : [line(rentals, 'new rentals')]),
    ...healthLines(health),
  ];
}

function healthLines({ failed_days: days, problem, failing_since, hidden_since }: Stats['health']): string[] {
  if (days === 0 && failing_since === null) return [];
  return [
    `It failed on the last ${days === 1 ? 'night' : `${days} nights`}, when the marketplace ran it.`,
    ...(problem === null ? [] : [`  ${problem}`]),
    ...(failing_since === null ? [] : [`Renters are told that it fails since ${dayOf(failing_since)}.`]),
    ...(hidden_since === null ? [] : [`Search leaves it out since ${dayOf(hidden_since)}.`]),
  ];
}
