import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { type BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { newRenters, startMarket } from '../harness/market.js';
import { FIRST_LINES, type FirstLines } from './first-line-probe.js';
import { SETTLED_MS } from './first-line.js';

/** The compiled probe, because tests run from the sources. */
const PROBE = new URL('../../dist/startup/first-line-probe.js', import.meta.url);
const POLL_INTERVAL_MS = 20;
const PRICE_LAMPORTS = 250_000;
/** Wallets of a burst. One wallet's open charges are bounded. */
const RENTERS = 5;
const TERMS = {
  per_query: { deposit_lamports: 2_000 * PRICE_LAMPORTS },
  subscription: { duration_seconds: 2_592_000, max_price_lamports: PRICE_LAMPORTS },
} as const;

export type RentalModel = keyof typeof TERMS;

/** The times of requests, in milliseconds. */
export interface RequestTimes {
  /** From the server's receipt of the request to the agent's first line, measured by the server. */
  firstLines: number[];
  /** From the caller's request to the request at the model's server. */
  asked: number[];
  /** From the caller's request to the complete answer. The model answers at once. */
  overheads: number[];
}

/** A marketplace like `npm start`'s, with a rented agent of each rental model and a model that answers at once. */
export interface RentedAgents {
  /** Waits for a full pool, then sends concurrent runs. */
  run(model: RentalModel, concurrent: number): Promise<RequestTimes>;
  stop(): Promise<void>;
}

/** Starts the marketplace with `poolSize` ready sandboxes, and rents the agents. */
export async function startRentedAgents(
  poolSize: number,
  consensus: 'alpenglow' | 'tower' = 'alpenglow',
): Promise<RentedAgents> {
  const askedAt = new Map<string, number>();
  const market = await startMarket(
    {
      NODE_OPTIONS: `--inspect=127.0.0.1:0 --import ${PROBE.href}`,
      SANDBOX_POOL_SIZE: String(poolSize),
      LOCAL_CHAIN_CONSENSUS: consensus,
    },
    (_request, body) => askedAt.set(/task-\d+-/.exec(body)?.[0] ?? '', performance.now()),
  );
  const publish = (rental_model: RentalModel) =>
    market.publish('declarative', `started-${rental_model}`.replace('_', '-'), {
      listing: { rental_model, price_lamports: PRICE_LAMPORTS, sample_output: ['A sample.'] },
    });
  try {
    const agents = { per_query: await publish('per_query'), subscription: await publish('subscription') };
    const renters = await newRenters(market, RENTERS, {
      [agents.per_query]: TERMS.per_query,
      [agents.subscription]: TERMS.subscription,
    });
    // Drops the first lines of earlier runs.
    await firstLinesOf(market);
    let tasks = 0;
    const runOne = async (agentId: string): Promise<{ askedMs: number; overheadMs: number }> => {
      tasks += 1;
      const name = `task-${tasks}-`;
      const body = { agent_id: agentId, task: slowTask(0, name), input: { text: 'x'.repeat(4_096) } };
      const token = renters[tasks % RENTERS]?.token ?? '';
      const startedAt = performance.now();
      const { status, body: answer } = await call(market.server, 'POST', '/v1/execute', { token, body });
      const endedAt = performance.now();
      if (status !== 200 || answer['status'] !== 'completed') throw new Error(JSON.stringify(answer));
      return {
        askedMs: (askedAt.get(name) ?? Number.NaN) - startedAt,
        overheadMs: endedAt - startedAt,
      };
    };
    return {
      async run(kind, concurrent) {
        await untilPoolIsFull(market, poolSize);
        const times = await Promise.all(Array.from({ length: concurrent }, () => runOne(agents[kind])));
        const firstLines = await firstLinesOf(market);
        if (firstLines.length !== concurrent)
          throw new Error(`${firstLines.length} agents have a first line.`);
        return {
          firstLines,
          asked: times.map(({ askedMs }) => askedMs),
          overheads: times.map(({ overheadMs }) => overheadMs),
        };
      },
      stop: () => market.close(),
    };
  } catch (error) {
    await market.close();
    throw error;
  }
}

async function untilPoolIsFull({ server }: BusyMarketplace, size: number): Promise<void> {
  const full = new RegExp(String.raw`^agent_rental_sandboxes\{pool="runner",state="idle"\} ${size}$`, 'm');
  const isFull = async () => full.test(await (await fetch(`${server.dev.base_url}/metrics`)).text());
  await until(isFull, undefined, POLL_INTERVAL_MS);
  await delay(SETTLED_MS);
}

/** Reads the new values of the server's metric of first lines. */
async function firstLinesOf({ server: { process: child } }: BusyMarketplace): Promise<number[]> {
  child.send(FIRST_LINES);
  for (;;) {
    const [answer] = (await once(child, 'message')) as [Partial<FirstLines>];
    if (answer.probe === FIRST_LINES) return answer.ms ?? [];
  }
}
