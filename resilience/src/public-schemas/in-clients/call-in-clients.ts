import { fileURLToPath } from 'node:url';
import type { Random } from '@agent-rental/test/support/random';
import { installClient } from '../../clients/install.js';
import { validValues } from '../judge-tool.js';
import type { PublicTool } from '../list-tools.js';
import { callInClient } from './call-in-client.js';
import { CALLERS } from './callers.js';
import { openEchoMarket, type Unpublished } from './echo-market.js';
import type { Case, ClientVerdict } from './judge-calls.js';

const PROGRAMS = fileURLToPath(new URL('../../../src/public-schemas/in-clients/programs/', import.meta.url));
/** Values that are made for a tool. Some of them are valid and distinct. */
const TRIES = 60;

/** The results of all clients. */
export interface InClients {
  readonly clients: readonly ClientVerdict[];
  readonly unpublished: readonly Unpublished[];
  readonly isRight: boolean;
}

/** The options of the calls. */
export interface CallOptions {
  /** The number of values per tool. */
  readonly each: number;
  /** Part of a client's name. */
  readonly client: string;
  readonly random: Random;
  readonly log: (line: string) => void;
}

/** Publishes tools as listings on a marketplace. Each client calls each listing with values that the tool's schema accepts. */
export async function callInClients(
  tools: readonly PublicTool[],
  { each, client: part, random, log }: CallOptions,
): Promise<InClients> {
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
      log(
        `${client.name}: ${verdict.calls} calls, ${verdict.refused.length} refused, ${verdict.changed.length} changed`,
      );
      clients.push(verdict);
    }
    const isRight =
      market.unpublished.length === 0 &&
      clients.every(({ refused, changed }) => refused.length + changed.length === 0);
    return { clients, unpublished: market.unpublished, isRight };
  } finally {
    await market.stop();
  }
}

function different(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
