import { attacks, type Attack } from '@agent-rental/sandbox/conformance';
import { isApiError } from '@agent-rental/sdk';
import { Random } from '@agent-rental/test/support/random';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { until } from '@agent-rental/test/support/timing/until';
import type { Log } from '../run-battery.js';
import { startAttackModel, taskOf } from './attack-model.js';
import { startHonestCaller, type HonestCaller, type HonestTimes } from './honest-caller.js';
import { readBlocks } from './loop-probe.js';
import { SoakMarket, type Held } from './soak-market.js';

interface SoakOptions {
  runs: number;
  /** Kills of the server, each followed by a new start. */
  kills: number;
  /** Hostile runs at once. If there are more than processors, honest runs wait for processors and not for the server. */
  concurrency: number;
  quietRuns: number;
  seed: number;
  bounds: {
    /** The longest allowed block of the event loop. */
    blockedMs: number;
    /** The largest allowed ratio of the p95 of honest requests to its quiet value. */
    slowerTimes: number;
  };
  log: Log;
}

const HOSTILE_LISTINGS = 3;
const WARM_UP_RUNS = 5;
/** The allowed growth of an idle heap, for caches of schemas, statements and tokens. */
const HEAP_SLACK_MB = 24;
/**
 * The allowed growth of open descriptors. Database connections, kept connections of callers and the second schema thread start at
 * their first use. A leak would have one descriptor per run.
 */
const DESCRIPTOR_SLACK = 24;
const SETTLE_MS = 60_000;
/** The time from the start of runs to the kill. */
const KILL_AFTER_MS = 1_500;
const PROGRESS_RUNS = 50;
/** Times of `/health` below this are never too slow. */
const HEALTH_FLOOR_MS = 10;

/** Runs hostile code of every kind on a marketplace beside an honest caller, and kills the server several times. */
export async function runSandboxSoak(options: SoakOptions) {
  const model = await startAttackModel(attacks);
  const market = await SoakMarket.open(model.url);
  try {
    return await soak(market, options);
  } finally {
    await market.close();
    await model.close();
  }
}

async function soak(market: SoakMarket, options: SoakOptions) {
  const { log, seed, kills, runs } = options;
  const { isolation, python } = await market.sandbox();
  const languages = python ? ['javascript', 'python'] : ['javascript'];
  const kinds = attacks.filter(({ language }) => languages.includes(language));
  const honest = await market.sell('honest', ['javascript']);
  const listings: string[] = [];
  for (let index = 0; index < HOSTILE_LISTINGS; index += 1) {
    listings.push(await market.sell(`hostile-${index}`, languages));
  }
  const random = new Random(seed);
  const parts = { listings, kinds, random, concurrency: options.concurrency };
  const hostile: Hostile = (count, progress) => callHostilely(market, parts, count, progress);

  log(`${kinds.length} kinds at level ${isolation}; ${options.quietRuns} honest runs for the quiet values`);
  await callHonestly(market, honest, (caller) => caller.atLeast(WARM_UP_RUNS));
  await readBlocks(market.inspector);
  const times = await callHonestly(market, honest, (caller) => caller.atLeast(options.quietRuns));
  const quiet = { ...times, loop: await readBlocks(market.inspector) };
  log(JSON.stringify(quiet));

  /** The measurements between two starts of the server. */
  const phases: Awaited<ReturnType<typeof runPhase>>[] = [];
  const perPhase = Math.ceil(runs / (kills + 1));
  for (let left = runs; left > 0; left -= perPhase) {
    const count = Math.min(left, perPhase);
    const phase = await runPhase(market, { count, honest, hostile, log });
    log(JSON.stringify(phase));
    phases.push(phase);
    if (left <= perPhase) break;
    const cut = hostile(options.concurrency);
    await new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS));
    await market.end('kill');
    await cut;
    await market.start();
    await callHonestly(market, honest, (caller) => caller.atLeast(WARM_UP_RUNS));
  }
  await market.end('stop');
  const processes_left = await market.processesLeft();
  const faults = phases.flatMap((phase) => brokenBounds(phase, quiet, options.bounds));
  if (processes_left.length > 0) faults.push(`${processes_left.length} processes are left`);
  const broken = [...new Set(faults)];
  return { seed, isolation, kinds: kinds.length, quiet, phases, processes_left, broken };
}

async function runPhase(
  market: SoakMarket,
  { count, honest, hostile, log }: { count: number; honest: string; hostile: Hostile; log: Log },
) {
  const before = await market.held();
  await readBlocks(market.inspector);
  let outcomes: Record<string, number> = {};
  const times = await callHonestly(market, honest, async () => {
    outcomes = await hostile(count, log);
  });
  const loop = await readBlocks(market.inspector);
  let after = before;
  const isSettled = async () => !isMore(before, (after = await market.held()));
  await until(isSettled, SETTLE_MS, 500).catch(() => undefined);
  return { runs: count, outcomes, loop, ...times, before, after };
}

const isMore = (before: Held, after: Held): boolean =>
  after.heapMb - before.heapMb > HEAP_SLACK_MB || after.descriptors - before.descriptors > DESCRIPTOR_SLACK;

/** Runs the honest caller during some other work. */
async function callHonestly(
  market: SoakMarket,
  listingId: string,
  meanwhile: (caller: HonestCaller) => Promise<void>,
): Promise<HonestTimes> {
  const client = market.client();
  const caller = startHonestCaller(client.baseUrl, async () => {
    const { status, output } = await client.execute({ agent_id: listingId, task: taskOf() });
    if (status !== 'completed') throw new Error(`an honest run ${status}: ${JSON.stringify(output)}`);
  });
  await meanwhile(caller);
  return caller.stop();
}

type Hostile = (count: number, log?: Log) => Promise<Record<string, number>>;

/** Makes hostile runs of random kinds, several at once. @returns the number of runs by result. */
async function callHostilely(
  market: SoakMarket,
  parts: { listings: readonly string[]; kinds: readonly Attack[]; random: Random; concurrency: number },
  count: number,
  log: Log | undefined,
): Promise<Record<string, number>> {
  const { listings, kinds, random, concurrency } = parts;
  const client = market.client();
  const outcomes: Record<string, number> = {};
  let ended = 0;
  await inParallel(Array(count), concurrency, async () => {
    const request = { agent_id: random.pick(listings), task: taskOf(random.pick(kinds)) };
    const outcome = await client
      .execute(request)
      .then(({ status }): string => status)
      .catch((error: unknown) => (isApiError(error) ? `${error.status}` : 'cut'));
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    ended += 1;
    if (ended % PROGRESS_RUNS === 0) log?.(`${ended} of ${count} hostile runs`);
  });
  return outcomes;
}

function brokenBounds(
  { loop, honest_ms, health_ms, before, after, failures }: Awaited<ReturnType<typeof runPhase>>,
  quiet: HonestTimes,
  { blockedMs, slowerTimes }: SoakOptions['bounds'],
): string[] {
  const broken = [...failures];
  if (loop.longest_ms > blockedMs) broken.push(`the loop was blocked for ${Math.round(loop.longest_ms)} ms`);
  if (honest_ms.p95 > slowerTimes * quiet.honest_ms.p95)
    broken.push(`honest runs took ${honest_ms.p95} ms at p95, ${quiet.honest_ms.p95} ms when it was quiet`);
  if (health_ms.p95 > Math.max(HEALTH_FLOOR_MS, slowerTimes * quiet.health_ms.p95))
    broken.push(`/health took ${health_ms.p95} ms at p95, ${quiet.health_ms.p95} ms when it was quiet`);
  if (isMore(before, after))
    broken.push(`the server holds ${JSON.stringify(after)}, before ${JSON.stringify(before)}`);
  return broken;
}
