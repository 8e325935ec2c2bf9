import { Random } from '@agent-rental/test/support/random';
import {
  censusAfter,
  censusAtRest,
  requestDigest,
  RUN_PRICE,
  sendRun,
  startBusyMarketplace,
  type BusyMarketplace,
} from '@agent-rental/test/support/busy-marketplace';
import { leftBehind } from '@agent-rental/test/support/processes/census';
import { descendants } from '@agent-rental/test/support/processes/processes';
import type { Renter } from '@agent-rental/test/support/renter';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { quantilesOf } from '@agent-rental/test/support/timing/quantiles';
import type { Log } from '../run-battery.js';
import { watchMemory } from './memory.js';
import { checkRecords, resultOf, type Sent } from './records.js';

interface LoadOptions {
  listings: number;
  runMs: number;
  withinSeconds: number;
  /** The time of the load at twice the capacity of slots and queue. */
  overSeconds: number;
  /** Runs at once on each listing within its capacity: at most its 20 slots. */
  concurrency: number;
  lineLength: number;
  seed: number;
  log: Log;
}

const SLOTS = 20;
const QUEUE_WAIT_SECONDS = 30;
/** The longest time to a refusal: the bounds of the queue, a sandbox and the charge. */
const LONGEST_REFUSAL_MS = (QUEUE_WAIT_SECONDS + 10 + 10) * 1000;
const MEGABYTE = 1024 * 1024;
/** The allowed growth of an idle heap, for caches of schemas, statements and tokens. */
const HEAP_SLACK_MB = 24;
const KILL_EVERY_MS = 3_000;
/** Callers that leave before their answer, in per cent. */
const LEAVES = 8;

/** Loads a marketplace within and over its capacity, with callers that leave and sandboxes that die. */
export async function runLoad(options: LoadOptions) {
  const market = await startBusyMarketplace({
    SANDBOX_POOL_SIZE: '8',
    SANDBOX_MAX_ACTIVE: String(options.listings * SLOTS + 20),
    QUEUE_MAX_LENGTH: String(options.lineLength),
    QUEUE_MAX_WAIT_SECONDS: String(QUEUE_WAIT_SECONDS),
  });
  try {
    return await load(market, options);
  } finally {
    await market.close();
  }
}

async function load(market: BusyMarketplace, options: LoadOptions) {
  const { log, seed, runMs } = options;
  const random = new Random(seed);
  const listings: { id: string; renters: Renter[] }[] = [];
  let deposited = 0;
  for (let index = 0; index < options.listings; index += 1) {
    const id = await market.publish(index % 2 === 0 ? 'declarative' : 'connected', `loaded-${index}`);
    const runs = Math.ceil(((options.withinSeconds + options.overSeconds) * 1000 * SLOTS) / runMs) + 50;
    const renters: Renter[] = [];
    // Fewer wallets would not get all slots.
    for (let wallet = 0; wallet < 5; wallet += 1) renters.push(await market.renter([id], runs));
    deposited += renters.length * runs * RUN_PRICE;
    listings.push({ id, renters });
  }
  const broken: string[] = [];
  const sent: Sent[] = [];
  const run = async (name: string, perListing: number, seconds: number) => {
    log(`${name}: ${perListing} at once on each of ${listings.length} listings, ${seconds} s`);
    const leg = await runLeg(market, options, { name, listings, perListing, seconds, random, sent, broken });
    log(`${name}: ${JSON.stringify(leg)}`);
    return leg;
  };
  await run('warm-up', Math.min(4, options.concurrency), Math.ceil(runMs / 1000));
  const before = await censusAtRest(market);
  const memory = watchMemory(market.server.process.pid ?? 0);
  const heapBefore = await market.inspector.heapAfterCollection();
  const within = await run('within', options.concurrency, options.withinSeconds);
  await censusAfter(market, before);
  const heapWithin = await market.inspector.heapAfterCollection();
  const over = await run('over', 2 * (SLOTS + options.lineLength), options.overSeconds);
  const after = await censusAfter(market, before);
  const heapAfter = await market.inspector.heapAfterCollection();
  broken.push(...leftBehind(before, after));
  const mb = (bytes: number) => Math.round(bytes / MEGABYTE);
  if (mb(heapAfter.heapUsed - heapBefore.heapUsed) > HEAP_SLACK_MB) broken.push('the heap has grown');
  if ((over.answers['429'] ?? 0) + (over.answers['503'] ?? 0) === 0)
    broken.push('no caller was refused beyond capacity');
  const runs_on_record = await checkRecords(market, sent, deposited, broken);
  const course = (of: 'heapUsed' | 'rss') => {
    return { before: mb(heapBefore[of]), after_within: mb(heapWithin[of]), after: mb(heapAfter[of]) };
  };
  const used = { heap_mb: course('heapUsed'), peak_mb: memory.stop(), rss_mb: course('rss') };
  return { seed, within, over, ...used, before, after, runs_on_record, broken: [...new Set(broken)] };
}

interface LegPlan {
  name: string;
  listings: { id: string; renters: Renter[] }[];
  perListing: number;
  seconds: number;
  random: Random;
  sent: Sent[];
  broken: string[];
}

/** Runs the callers of one leg. Each sends one run after another. */
async function runLeg(
  market: BusyMarketplace,
  { runMs }: LoadOptions,
  { name, listings, perListing, seconds, random, sent, broken }: LegPlan,
) {
  const end = performance.now() + seconds * 1000;
  const answers: Record<string, number> = {};
  /** The times of answered runs without the agent's own time. */
  const overhead: number[] = [];
  const refused: number[] = [];
  let count = 0;
  const answered = (how: string) => (answers[how] = (answers[how] ?? 0) + 1);

  const caller = async (agentId: string, renter: Renter): Promise<void> => {
    while (performance.now() < end) {
      count += 1;
      const task = `${name}-${count}`;
      const priority = random.chance(20) ? 'priority' : 'standard';
      const body = { agent_id: agentId, task: slowTask(runMs, task), priority };
      const path = random.chance(50) ? '/v1/execute' : '/v1/execute/stream';
      const leaves = random.chance(LEAVES);
      const startedAt = performance.now();
      const sending = sendRun(market, path, renter, body);
      const leaving = leaves && setTimeout(() => sending.leave(), random.below(runMs));
      const answer = await sending.answer;
      if (leaving) clearTimeout(leaving);
      const tookMs = performance.now() - startedAt;
      sent.push({ digest: requestDigest(body), left: leaves, status: answer.status, body: answer.body });
      if (answer.status === undefined) {
        answered('left');
        if (!leaves) broken.push('a connection broke by itself');
      } else if (answer.status === 200) {
        const { status, output } = resultOf(answer.body);
        answered(`200 ${status}`);
        overhead.push(tookMs - runMs);
        if (status === 'completed' && output !== slowAnswer(task))
          broken.push(`a wrong answer: ${String(output)}`);
      } else {
        answered(String(answer.status));
        refused.push(tookMs);
        const retryAfter = Number(answer.headers['retry-after']);
        if (![429, 503].includes(answer.status)) broken.push(`an answer ${answer.status}: ${answer.body}`);
        if (!(retryAfter > 0)) broken.push(`${answer.status} without Retry-After`);
        if (tookMs > LONGEST_REFUSAL_MS) broken.push(`a refusal after ${Math.round(tookMs)} ms`);
        // Retries sooner than `Retry-After` says, like the worst callers.
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  };

  let sandboxes_killed = 0;
  const killOne = async () => {
    const children = await descendants(market.server.process.pid ?? 0);
    const sandboxes = children.filter(({ command }) => /\bdeno\b/.test(command));
    if (sandboxes.length === 0) return;
    process.kill(random.pick(sandboxes).pid, 'SIGKILL');
    sandboxes_killed += 1;
  };
  // A sandbox may end by itself before its kill.
  const killing = setInterval(() => void killOne().catch(() => undefined), KILL_EVERY_MS);
  await Promise.all(
    listings.flatMap(({ id, renters }) =>
      Array.from({ length: perListing }, (_, index) => caller(id, renters[index % renters.length] as Renter)),
    ),
  );
  clearInterval(killing);
  const [overhead_ms, refused_ms] = [quantilesOf(overhead), quantilesOf(refused)];
  return { sent: count, answers, overhead_ms, refused_ms, sandboxes_killed };
}
