import { Random } from '@agent-rental/test/support/random';
import { ReplicaMarket, type MarketListing } from '@agent-rental/test/support/replicas/replica-market';
import { newCallers, type AskedRun, type Caller } from './caller.js';
import { changesOf, eventsOf } from './changes.js';
import { Client, type Asked, type Got } from './client.js';
import { fallbacksOf, leadersOf } from './metrics.js';
import { burst, judgeBurst, Windows, type Burst } from './limits.js';
import { compareMoney, compareRecords, rest, told } from './records.js';
import { KINDS, make, type MixedOptions } from './requests.js';
import { newRun, readAgain, runToEnd, type Context } from './runs.js';
import { SlotWatch } from './slots.js';

interface ReplicasOptions extends MixedOptions {
  readonly replicas: number;
  /** Kills of a replica, each followed by a new replica. The first kill is of the leader. */
  readonly kills: number;
}

/** Callers that run an agent at once: more than its slots. */
const CROWD = 30;
const CROWD_WORK_MS = 1_000;

/** Sends mixed requests to replicas, kills and adds some of them, and compares all results with the chain. */
export async function runReplicas(options: ReplicasOptions) {
  const slots = new SlotWatch();
  const market = await ReplicaMarket.open({ replicas: options.replicas }, slots.onTask);
  try {
    return await replicas(market, slots, options);
  } finally {
    await market.close();
  }
}

async function replicas(
  market: ReplicaMarket,
  slots: SlotWatch,
  { requests, kills, wallets, concurrency, seed, log }: ReplicasOptions,
) {
  const random = new Random(seed);
  const broken: string[] = [];
  const listings = await market.publish([
    { name: 'per-task', model: 'per_query' },
    { name: 'per-task-too', model: 'per_query' },
    { name: 'for-good', model: 'one_time' },
    { name: 'for-a-month', model: 'subscription' },
    { name: 'in-a-sandbox', model: 'one_time', isDeclarative: true },
  ]);
  const callers = await newCallers(market, listings, { requests, wallets });
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  log(`${callers.length} wallets have rented ${listings.length} listings`);

  const windows = new Windows(broken);
  const answered: Record<string, number> = {};
  const onAnswer = (asked: Asked, got: Got) => {
    answered[got.replica.name] = (answered[got.replica.name] ?? 0) + 1;
    windows.note(asked, got);
  };
  const parts = { random, replicas: () => market.replicas, broken, statuses: {}, onAnswer };
  const client = new Client(parts);
  /** Sends the bursts over the limits, which do not count as mixed requests. */
  const greedy = new Client(parts);
  const runs: AskedRun[] = [];
  const context: Context = { client, random, runs };
  const bursts: Burst[] = [];
  slots.watch(market);
  const startedAt = performance.now();

  const crowd = async () => {
    const listing = listings[0] as MarketListing;
    const run = (caller: Caller) =>
      runToEnd(caller, newRun(caller, context, { listing, workMs: CROWD_WORK_MS }), context);
    await Promise.all(
      Array.from({ length: CROWD }, (_, index) => run(callers[index % callers.length] as Caller)),
    );
  };
  const due = eventsOf(requests, {
    crowd,
    burst: async (index) => {
      const what = index % 2 === 0 ? 'requests' : 'runs';
      bursts.push(await burst(what, market, greedy, listings[2]?.id ?? ''));
    },
  });
  const changes = changesOf(market, requests, kills, { random, log, broken });
  /** Crowds, bursts and changes, which run beside the lanes. */
  const others: Promise<unknown>[] = [];
  /** Whether all changes are done, and all replicas, also the new ones, have answered enough requests. */
  const haveAllServed = () =>
    changes.areOver() &&
    market.replicas.every(({ name, isUp }) => !isUp || (answered[name] ?? 0) >= LEAST_ANSWERS);
  await Promise.all(
    Array.from({ length: concurrency }, async (_, lane) => {
      while (client.sent < requests || !haveAllServed()) {
        for (const started of [...due(client.sent), ...changes.due(client.sent)])
          others.push(started.catch((error: unknown) => broken.push(String(error))));
        // A random wallet, so that all wallets share the requests.
        const caller = callers[(lane + random.below(callers.length)) % callers.length] as Caller;
        await make(random.weighted(KINDS), caller, context);
      }
    }),
  );
  await Promise.all(others);
  const seconds = (performance.now() - startedAt) / 1_000;
  const sent = client.sent + greedy.sent;
  log(`${sent} requests in ${Math.round(seconds)} s; waiting for the end of all runs`);

  broken.push(...(await rest(market)), ...slots.end());
  const leaders = await leadersOf(market.running);
  /** Requests that one replica counted alone, because Redis did not answer in time. */
  let without_redis = 0;
  for (const replica of market.running) {
    const count = await fallbacksOf(replica);
    const lines = replica.output().match(/.*Redis.*/g) ?? [];
    if (count > 0) log(`${replica.name} counted ${count} requests without Redis: ${lines.join(' ')}`);
    without_redis += count;
  }
  broken.push(...bursts.flatMap((each) => judgeBurst(each, without_redis)));
  if (leaders.length !== 1) broken.push(`${leaders.length} replicas lead at the end`);
  for (const replica of market.replicas) {
    if (!answered[replica.name]) broken.push(`${replica.name} answered nothing`);
  }
  // Any replica returns the reported results, also for runs of killed replicas.
  for (const caller of callers) {
    for (const run of caller.done.slice(-READ_AGAIN)) await readAgain(caller, run, context);
  }
  log('comparing records and money');
  const records = await compareRecords(market, runs);
  broken.push(...records.wrong, ...(await compareMoney(market, treasuryBefore)));
  const [charged] = await market.query<{ count: number }>(
    `select count(*)::integer as count from charges where state in ('finalized', 'credited')`,
  );
  return {
    seed,
    seconds: Math.round(seconds),
    requests: sent,
    requests_per_s: Math.round(sent / seconds),
    statuses: client.statuses,
    answered,
    killed: changes.killed,
    added: changes.added,
    /** From each kill of the leader to another replica's lead. */
    failover_ms: changes.failoverMs,
    limits: { bursts, windows: windows.count, answers: windows.looked, without_redis },
    slots: { most_at_agent: slots.mostAtAgent, most_taken: slots.mostTaken },
    runs: {
      asked: runs.length,
      on_record: records.onRecord,
      made_good: records.madeGood,
      answered: runs.filter(({ told }) => told.length > 0).length,
    },
    money: { rentals: market.rentals.length, charged: charged?.count ?? 0 },
    broken: told(broken),
  };
}

/** The least number of answers of each replica before the load ends. */
const LEAST_ANSWERS = 50;
/** Runs of each wallet that are read again at the end. */
const READ_AGAIN = 10;
