import type { CliEnvironment } from '../cli-environment.js';
import { latestShown, limitOf, secondOf } from '../lists.js';
import { connect, type Connected } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { report } from '../report.js';
import { inWordsOfCli } from '../words.js';

type OwnAgent = Awaited<ReturnType<Connected['client']['listAgents']>>['agents'][number];

/** `agent-rental agents`: the wallet's agents, with drafts, and their reachability. */
export async function agentsCommand(
  options: MarketplaceOptions & { limit?: string },
  environment: CliEnvironment,
): Promise<void> {
  const limit = limitOf(options);
  const { client } = connect(options, environment);
  const page = await client.listAgents({ limit }, { signal: environment.signal });
  const none =
    page.agents.length === 0 ? ['This wallet has no agents. "agent-rental publish" makes one.'] : [];
  const more = latestShown(page.agents.length, page.total);
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
      : [`  not reached since ${secondOf(unreachable.since)}`, `  ${inWordsOfCli(unreachable.message)}`];
  return [
    `${id} (${status}, v${version})`,
    ...failure,
    ...told.flatMap(([what, at]) => (at === undefined ? [] : [`  ${what} since ${secondOf(at)}`])),
  ];
}
