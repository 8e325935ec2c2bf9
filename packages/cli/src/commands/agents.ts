import type { CliEnvironment } from '../cli-environment.js';
import { UsageError } from '../errors.js';
import { connect, type Connected } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { report } from '../report.js';

const MAX_LIMIT = 100;

type OwnAgent = Awaited<ReturnType<Connected['client']['listAgents']>>['agents'][number];

/** `agent-rental agents`: the wallet's agents, with drafts, and their reachability. */
export async function agentsCommand(
  options: MarketplaceOptions & { limit?: string },
  environment: CliEnvironment,
): Promise<void> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new UsageError(`--limit is a number from 1 to ${MAX_LIMIT}.`);
  const { client } = connect(options, environment);
  const page = await client.listAgents({ limit }, { signal: environment.signal });
  const none =
    page.agents.length === 0 ? ['This wallet has no agents. "agent-rental publish" makes one.'] : [];
  const more = page.next_cursor === undefined ? [] : [`The latest ${page.agents.length} are shown.`];
  report(options, environment, page, [...none, ...page.agents.flatMap(linesOf), ...more]);
}

function linesOf({ listing_id: id, status, version, unreachable, ...times }: OwnAgent): string[] {
  const told = [
    ['unverified', times.unverified_since],
    ['fails at night', times.failing_since],
    ['left out of search', times.hidden_since],
  ] as const;
  const failure =
    unreachable === null
      ? []
      : [`  not reached since ${timeOf(unreachable.since)}`, `  ${unreachable.message}`];
  return [
    `${id} (${status}, v${version})`,
    ...failure,
    ...told.flatMap(([what, at]) => (at === undefined ? [] : [`  ${what} since ${timeOf(at)}`])),
  ];
}

const timeOf = (at: string) => at.slice(0, 19).replace('T', ' ');
