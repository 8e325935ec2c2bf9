import { fileURLToPath } from 'node:url';
import type { Random } from '@agent-rental/test/support/random';
import { installClient } from '../../clients/install.js';
import { validValues } from '../judge-tool.js';
import type { PublicTool } from '../list-tools.js';
import { callInClient } from './call-in-client.js';
import { CALLERS } from './callers.js';
import type { Log } from '../../run-battery.js';
import { openEchoMarket } from './echo-market.js';
import type { Case, ClientVerdict } from './judge-calls.js';

const PROGRAMS = fileURLToPath(new URL('../../../src/public-schemas/in-clients/programs/', import.meta.url));
/** Values that are made for a tool. Some of them are valid and distinct. */
const TRIES = 60;

/**
 * Publishes tools as listings on a marketplace. Each client calls each listing with values that the tool's schema accepts.
 *
 * @param options `each`: the number of values per tool. `client`: part of a client's name.
 */
export async function callInClients(
  tools: readonly PublicTool[],
  { each, client: part, random, log }: { each: number; client: string; random: Random; log: Log },
) {
  const chosen = CALLERS.filter(({ name }) => name.includes(part));
  const market = await openEchoMarket(tools);
  try {
    log(`${market.listings.length} listings`);
    for (const { tool, error } of market.unpublished) log(`${tool} was not published: ${error}`);
    const cases = market.listings.flatMap(({ agentId, tool }): Case[] =>
      different(validValues(tool, TRIES, random))
        .slice(0, each)
        .map((value) => ({ agentId, tool: tool.name, value })),
    );
    const clients: ClientVerdict[] = [];
    for (const client of chosen) {
      const verdict = await callInClient(market, client, await installClient(client, PROGRAMS), cases);
      const { calls, refused, changed } = verdict;
      log(`${client.name}: ${calls} calls, ${refused.length} refused, ${changed.length} changed`);
      clients.push(verdict);
    }
    const misses = clients.flatMap(({ refused, changed }) => [...refused, ...changed]);
    const isRight = misses.length + market.unpublished.length === 0;
    return { clients, unpublished: market.unpublished, isRight };
  } finally {
    await market.stop();
  }
}

const different = (values: readonly unknown[]): unknown[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];
