import { Random } from '@agent-rental/test/support/random';
import { startBalancer } from '@agent-rental/test/support/replicas/balancer';
import { ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';
import { WITHOUT_LIMITS } from '@agent-rental/test/support/without-limits';
import { setTimeout as delay } from 'node:timers/promises';
import { newCallers, type AskedRun, type Caller } from '../caller.js';
import { Client } from '../client.js';
import { compareMoney, compareRecords, rest, told } from '../records.js';
import { KINDS, make, type MixedOptions } from '../requests.js';
import type { Context } from '../runs.js';

/** Failures. 0: the connection broke. 429 and 503 are failures, because no caller reaches a limit. */
const FAILURES = [0, 429, 500, 502, 503];
/** The pause between the start of a new replica and the drain of an old one, so that both serve. */
const TOGETHER_MS = 1_500;

/** Replaces replicas one by one, under load behind a load balancer. */
export async function runRollingUpdate(options: MixedOptions & { readonly replicas: number }) {
  const balancer = await startBalancer();
  const market = await ReplicaMarket.open({
    replicas: options.replicas,
    front: balancer,
    env: WITHOUT_LIMITS,
  });
  try {
    for (const replica of market.replicas) await balancer.add(replica);
    return await rollingUpdate(market, balancer, options);
  } finally {
    await market.close();
    await balancer.close();
  }
}

async function rollingUpdate(
  market: ReplicaMarket,
  balancer: Awaited<ReturnType<typeof startBalancer>>,
  { requests, wallets, concurrency, seed, log }: MixedOptions,
) {
  const random = new Random(seed);
  const broken: string[] = [];
  const listings = await market.publish([
    { name: 'per-task', model: 'per_query' },
    { name: 'for-good', model: 'one_time' },
    { name: 'for-a-month', model: 'subscription' },
  ]);
  const callers = await newCallers(market, listings, { requests, wallets });
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  const front = { name: 'the load balancer', dev: balancer.dev, isUp: true };
  const client = new Client({ random, replicas: () => [front], broken });
  const runs: AskedRun[] = [];
  const context: Context = { client, random, runs };
  const old = [...market.replicas];
  const replaced: string[] = [];

  const update = async (): Promise<void> => {
    for (const replica of old) {
      const next = await market.add();
      await balancer.add(next);
      log(`${next.name} is up`);
      await delay(TOGETHER_MS);
      const inRotation = balancer.inRotation();
      for (const { name } of [next, replica]) {
        if (!inRotation.includes(name)) broken.push(`${name} is not in the rotation`);
      }
      const code = await replica.drain();
      log(`${replica.name} has drained`);
      if (code !== 0) broken.push(`${replica.name} ended with ${code}: ${replica.output()}`);
      replaced.push(replica.name);
    }
    await delay(TOGETHER_MS);
  };
  const startedAt = performance.now();
  const over = new AbortController();
  const load = Promise.all(
    Array.from({ length: concurrency }, async () => {
      // Until the end of the update, with at least `requests` requests.
      while (client.sent < requests || !over.signal.aborted) {
        await make(random.weighted(KINDS), random.pick<Caller>(callers), context);
      }
    }),
  );
  while (client.sent < requests / 4) await delay(20);
  await update().finally(() => over.abort());
  await load;
  const seconds = (performance.now() - startedAt) / 1_000;
  log(`${client.sent} requests in ${Math.round(seconds)} s`);

  for (const status of FAILURES) {
    const count = client.statuses[status] ?? 0;
    if (count > 0) broken.push(`${count} requests failed with ${status || 'a broken connection'}`);
  }
  broken.push(...(await rest(market)));
  const records = await compareRecords(market, runs);
  if (records.madeGood > 0) broken.push(`runs were cut off: ${records.reasons.join('; ')}`);
  broken.push(...records.wrong, ...(await compareMoney(market, treasuryBefore)));
  return {
    seed,
    seconds: Math.round(seconds),
    requests: client.sent,
    statuses: client.statuses,
    answered: Object.fromEntries(balancer.answered),
    sent_again: balancer.sentAgain,
    replaced,
    runs: { asked: runs.length, on_record: records.onRecord },
    broken: told(broken),
  };
}
