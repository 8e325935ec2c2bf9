import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Renter } from '@agent-rental/test/support/renter';
import { ReplicaMarket, RUN_PRICE } from '@agent-rental/test/support/replicas/replica-market';
import { spreadLoad, type Asking } from './replicas/spread-load.js';
import {
  atMost,
  median,
  percentile,
  round,
  type Findings,
  type Row,
  type Suite,
  type Target,
} from './report.js';

/** How many of the replicas are asked. All are up the whole time, so that only the load differs. */
const COUNTS = [1, 2, 4] as const;
const CALLERS = 20;
const WALLETS = 10;
/** Deposited runs of a wallet: less than a wallet of the tests has SOL for. */
const RUNS_OF_WALLET = 3_000;
/**
 * Processor time of all servers for an answer, against that of one alone: what begins together shares statements, and has fewer to share
 * with at each of several. Answers a second are no target: on a machine whose cores one replica and what it asks fill, they
 * fall by that much.
 */
const MOST_CPU = 3;

/** Answers a second of one, two and four replicas, by turns, on one PostgreSQL, one Redis and one chain. */
export async function measureReplicas(
  { seconds, warmUpSeconds, rounds }: { seconds: number; warmUpSeconds: number; rounds: number },
  progress: (line: string) => void,
): Promise<Findings> {
  const market = await ReplicaMarket.open({
    replicas: Math.max(...COUNTS),
    env: { RATE_LIMIT_PER_MINUTE: '1000000', EXECUTIONS_PER_MINUTE: '1000000' },
  });
  try {
    const [free, paid] = await market.publish([
      { name: 'free-runs', model: 'one_time' },
      { name: 'charged-runs', model: 'per_query' },
    ]);
    if (!free || !paid) throw new Error('The listings are missing.');
    const renters: Renter[] = [];
    for (let wallet = 0; wallet < WALLETS; wallet += 1) {
      const renter = await market.participant();
      await market.rent(renter, free, 0);
      await market.rent(renter, paid, RUNS_OF_WALLET);
      renters.push(renter);
    }
    const bearers = renters.map(({ token }) => token);
    let task = 0;
    const read = (path: string): Asking => ({
      method: 'GET',
      path,
      bearers,
      body: () => undefined,
      isGood: (status) => status === 200,
    });
    const runsOf = (agentId: string): Asking => ({
      method: 'POST',
      path: '/v1/execute',
      bearers,
      body: () => ({ agent_id: agentId, task: slowTask(0, String((task += 1))) }),
      isGood: (status, text) => status === 200 && text.includes('"completed"'),
    });
    const kinds: Readonly<Record<string, Asking>> = {
      'GET /v1/listings': read('/v1/listings?limit=20'),
      'GET /v1/credentials': read('/v1/credentials'),
      'runs, not charged': runsOf(free.id),
      'runs, charged': runsOf(paid.id),
    };
    const rows: Row[] = [];
    const cpu: Record<string, number[]> = {};
    for (const [what, asking] of Object.entries(kinds)) {
      await spreadLoad(market.replicas, asking, { callers: CALLERS, seconds: warmUpSeconds });
      for (let left = rounds; left > 0; left -= 1) {
        let ofOne: number | undefined;
        for (const count of COUNTS) {
          const { per_s, times_ms, server_cpu_ms } = await spreadLoad(
            market.replicas.slice(0, count),
            asking,
            {
              callers: CALLERS,
              seconds,
            },
          );
          (cpu[`${what} ${count}`] ??= []).push(server_cpu_ms);
          ofOne ??= per_s;
          rows.push({
            what,
            replicas: count,
            per_s: round(per_s),
            of_one: round(per_s / ofOne),
            p50_ms: round(median(times_ms)),
            p95_ms: round(percentile(times_ms, 95)),
            server_cpu_ms: round(server_cpu_ms),
          });
          progress(JSON.stringify(rows.at(-1)));
        }
      }
    }
    const cpuOf = (what: string, count: number) => median(cpu[`${what} ${count}`] ?? []);
    const targets: Target[] = Object.keys(kinds).flatMap((what) =>
      COUNTS.slice(1).map((count) =>
        atMost(
          `${what}, ${count} replicas, CPU of the servers for an answer`,
          cpuOf(what, count) / cpuOf(what, 1),
          MOST_CPU,
          'of one replica',
        ),
      ),
    );
    return {
      setting: { callers: CALLERS, seconds, rounds, price_lamports: RUN_PRICE },
      rows,
      targets,
    };
  } finally {
    await market.close();
  }
}

/** What one, two and four replicas answer on one machine. */
export const suite: Suite = {
  name: 'replicas',
  summary: 'answers a second of 1, 2 and 4 replicas on one PostgreSQL, Redis and chain, by turns',
  run: (progress) => measureReplicas({ seconds: 4, warmUpSeconds: 2, rounds: 3 }, progress),
};
