import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { readProcess } from '@agent-rental/test/support/processes/processes';
import type { Replica } from '@agent-rental/test/support/replicas/replica';
import { ReplicaMarket, RUN_PRICE } from '@agent-rental/test/support/replicas/replica-market';
import { WITHOUT_LIMITS } from '@agent-rental/test/support/without-limits';
import { requireGood, sendLoad } from './harness/load.js';
import { median, Sheet, timesOf, type Suite } from './report.js';

/** The numbers of replicas under load. All replicas run the whole time, so that only the load differs. */
const COUNTS = [1, 2, 4] as const;
const CALLERS = 20;
const WALLETS = 10;
/** Deposited runs of a wallet, within the SOL of a test wallet. */
const RUNS_OF_WALLET = 3_000;
/**
 * The largest ratio of the servers' processor time per answer to one replica's. Runs that start together share statements, and
 * each of several replicas shares fewer. Rates have no target, because callers and one replica already fill the machine.
 */
const MOST_CPU = 3;

/** Measures answers per second of one, two and four replicas in turns, on one PostgreSQL, one Redis and one chain. */
export async function measureReplicas(
  { seconds, warmUpSeconds, rounds }: { seconds: number; warmUpSeconds: number; rounds: number },
  sheet: Sheet,
): Promise<Sheet> {
  const market = await ReplicaMarket.open({
    replicas: Math.max(...COUNTS),
    env: WITHOUT_LIMITS,
  });
  try {
    const [free, paid] = await market.publish([
      { name: 'free-runs', model: 'one_time' },
      { name: 'charged-runs', model: 'per_query' },
    ]);
    if (!free || !paid) throw new Error('The listings are missing.');
    const bearers: string[] = [];
    while (bearers.length < WALLETS) {
      const renter = await market.participant();
      await market.rent(renter, free, 0);
      await market.rent(renter, paid, RUNS_OF_WALLET);
      bearers.push(renter.token);
    }
    let task = 0;
    const runOf = (agentId: string) => () => ({
      path: '/v1/execute',
      body: { agent_id: agentId, task: slowTask(0, String((task += 1))) },
    });
    const kinds: Record<string, () => { path: string; body?: object }> = {
      'GET /v1/listings': () => ({ path: '/v1/listings?limit=20' }),
      'GET /v1/credentials': () => ({ path: '/v1/credentials' }),
      'runs, not charged': runOf(free.id),
      'runs, charged': runOf(paid.id),
    };
    for (const [what, request] of Object.entries(kinds)) {
      const spread = async (count: number, forSeconds: number) => {
        const replicas = market.replicas.slice(0, count);
        const times: number[] = [];
        const cpuBefore = await cpuMs(replicas);
        const startedAt = performance.now();
        await sendLoad({
          callers: CALLERS,
          next(caller) {
            if (performance.now() >= startedAt + forSeconds * 1_000) return undefined;
            const { path, ...rest } = request();
            const url = (replicas[caller % count]?.dev.base_url ?? '') + path;
            return { url, bearer: bearers[caller % WALLETS] ?? '', ...rest };
          },
          take(answer) {
            requireGood(answer, what.startsWith('runs') ? '"completed"' : '');
            times.push(answer.ms);
          },
        });
        const perSecond = (times.length * 1_000) / (performance.now() - startedAt);
        return { perSecond, times, cpu: ((await cpuMs(replicas)) - cpuBefore) / times.length };
      };
      await spread(market.replicas.length, warmUpSeconds);
      const cpus = new Map<number, number[]>(COUNTS.map((count) => [count, []]));
      for (let round = 0; round < rounds; round += 1) {
        let ofOne = Number.NaN;
        for (const count of COUNTS) {
          const { perSecond, times, cpu } = await spread(count, seconds);
          cpus.get(count)?.push(cpu);
          if (count === 1) ofOne = perSecond;
          sheet.add({
            what,
            replicas: count,
            per_s: perSecond,
            of_one: perSecond / ofOne,
            ...timesOf(times),
            server_cpu_ms: cpu,
          });
        }
      }
      const [one = Number.NaN, ...others] = COUNTS.map((count) => median(cpus.get(count) ?? []));
      for (const [index, cpu] of others.entries()) {
        const name = `${what}, ${COUNTS[index + 1]} replicas, CPU of the servers for an answer`;
        sheet.atMost(name, cpu / one, MOST_CPU, 'of one replica');
      }
    }
    sheet.setting = { callers: CALLERS, seconds, rounds, price_lamports: RUN_PRICE };
    return sheet;
  } finally {
    await market.close();
  }
}

/** Processor time of the replicas' processes so far, in milliseconds. NaN without `/proc`. */
async function cpuMs(replicas: readonly Replica[]): Promise<number> {
  const all = await Promise.all(replicas.map(({ pid }) => readProcess(pid)));
  return all.reduce((sum, process) => sum + (process?.cpuMs ?? Number.NaN), 0);
}

/** The answers of one, two and four replicas on one machine. */
export const suite: Suite = {
  name: 'replicas',
  summary: 'answers per second of 1, 2 and 4 replicas on one PostgreSQL, Redis and chain, in turns',
  run: (progress) => measureReplicas({ seconds: 4, warmUpSeconds: 2, rounds: 3 }, new Sheet(progress)),
};
