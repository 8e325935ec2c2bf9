import { Random } from '@agent-rental/test/support/random';
import { askChain } from '@agent-rental/test/support/replicas/market-chain';
import { accountOf, auditEarnings, auditRental, isPaid, isUncredited } from '../world/ledger-audit.js';
import { FaultMarket, RUN_PRICE, type Rental } from '../world/market.js';
import { reconcile } from '../world/reconcile.js';
import { newRequest, repeat, SCENARIOS, send, type Scenario } from '../world/scenarios.js';
import { settle } from '../world/verify.js';
import type { Log } from '../../run-battery.js';
import type { Fate } from '../proxies/step.js';

const LISTINGS = 4;
/** A wallet and listing have at most `CREDITS_PER_DAY` credits, which these seldom exceed. */
const RUNS_PER_RENTAL = 25;
/** Numbers of kills of the server, and of forks that drop charges. */
const KILLS = { least: 2, everyRuns: 1_000 };
const FORKS = { least: 3, everyRuns: 700 };
const MOST_ATTEMPTS = 40;
const MOST_TOLD = 100;

interface MoneySoakOptions {
  runs: number;
  seed: number;
  concurrency: number;
  /** The probability of a fault at each statement and each RPC call, in per cent. */
  faultPercent: number;
  log: Log;
}

/** Faults: a cut before the step, a cut after it, and a refusal (full disk, too many requests). */
const FATES = ['cut', 'cut_answer', 'refuse'] as const satisfies readonly Fate[];

/**
 * Makes Per-Task runs while statements and RPC calls fail, the server is killed and forks drop charges. In the middle the cluster
 * moves from tower to Alpenglow, while charges are in flight.
 */
export const runMoneySoak = (options: MoneySoakOptions) =>
  FaultMarket.use((market) => moneySoak(market, options), undefined, {}, 'tower');

async function moneySoak(
  market: FaultMarket,
  { runs, seed, concurrency, faultPercent, log }: MoneySoakOptions,
) {
  const startedAt = performance.now();
  const random = new Random(seed);
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  const listings = await market.publish(LISTINGS);
  const count = Math.max(concurrency, Math.ceil(runs / RUNS_PER_RENTAL));
  const rentals = await market.rentAll(
    Array.from({ length: count }, (_, index) => listings[index % LISTINGS] as (typeof listings)[0]),
    BigInt(Math.ceil(runs / count) * 2 + 10),
  );
  log(`${count} rentals`);
  /** By place and kind. */
  const faults: Record<string, number> = {};
  let kills = 0;
  let dropped = 0;
  /** Resolves after the current kill and restart, or fork. */
  let restarting: Promise<unknown> = Promise.resolve();
  let isFaulty = true;

  market.lanes.always = ({ at }) => {
    if (!isFaulty || !random.chance(faultPercent)) return undefined;
    const fate = random.pick(FATES);
    faults[`${at} ${fate}`] = (faults[`${at} ${fate}`] ?? 0) + 1;
    return fate;
  };

  async function restart(): Promise<void> {
    isFaulty = false;
    await market.kill();
    kills += 1;
    await market.start();
    // A repeated request waits for the end of the first run's charge.
    await market.finalize();
    isFaulty = true;
  }

  /** Drops every confirmed charge. */
  async function fork(): Promise<void> {
    const rows = await market.query<{ signature: string }>(
      `select signature from charge_signatures join charges using (run_id) where state = 'confirmed'`,
    );
    const dropSignatures = [...new Set(rows.map(({ signature }) => signature))];
    if (dropSignatures.length === 0) return;
    dropped += await market.fork(dropSignatures);
  }

  async function run(rental: Rental): Promise<string | undefined> {
    const request = newRequest(random.pick(WAYS), rental);
    for (let left = MOST_ATTEMPTS; left > 0; left -= 1) {
      await restarting;
      const { status, body } = await (left === MOST_ATTEMPTS
        ? send(market, request)
        : repeat(market, request).catch(() => ({ status: undefined, body: undefined })));
      if (status === 200) return undefined;
      // A run of the refusing agent never succeeds, so a few attempts are enough.
      if (left < MOST_ATTEMPTS - 2 && request.scenario.work === 'refuse') return undefined;
      if (status !== undefined && status < 500 && status !== 429) {
        return `a run was answered ${status}: ${JSON.stringify(body)}`;
      }
    }
    return 'a run had no answer';
  }

  const broken: string[] = [];
  const free = [...rentals];
  let started = 0;
  const time = setInterval(() => void passTime(market).catch(() => undefined), TICK_MS);
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (started < runs) {
        const number = (started += 1);
        if (isDue(number, runs, KILLS)) restarting = restarting.then(restart);
        if (isDue(number, runs, FORKS)) restarting = restarting.then(fork);
        if (number === Math.ceil(runs / 2))
          restarting = restarting.then(() => market.migrate()).then(restart);
        if (number % 100 === 0) log(`${number} runs, ${kills} kills, ${dropped} charges dropped`);
        // In turns, so that all balances shrink equally.
        const rental = free.shift() as Rental;
        const wrong = await run(rental);
        free.push(rental);
        if (wrong !== undefined && broken.length < MOST_TOLD) broken.push(wrong);
      }
    }),
  );
  await restarting;
  clearInterval(time);
  isFaulty = false;
  await market.passLeases();
  await settle(market, { timeoutMs: SETTLE_MS });

  // `cut_off`: charged for output that a kill cut off. `uncredited`: charged without delivery, over the daily credits.
  const sums = { debited: 0n, answered: 0n, credited: 0n, cut_off: 0n, uncredited: 0n, lost: 0n };
  for (const rental of rentals) {
    broken.push(...(await auditRental(market, rental)));
    const { debitedLamports, runs: recorded } = await accountOf(market, rental);
    sums.debited += debitedLamports;
    for (const each of recorded) {
      if (each.state === 'lost') sums.lost += RUN_PRICE;
      if (each.status !== 'undelivered') sums.answered += each.cost_lamports;
      else if (each.is_credited) sums.credited += RUN_PRICE;
      else if (isUncredited(each)) sums.uncredited += RUN_PRICE;
      else if (isPaid(each) && each.output_left) sums.cut_off += RUN_PRICE;
    }
  }
  broken.push(...(await auditEarnings(market, treasuryBefore)));
  const explained = sums.answered + sums.credited + sums.cut_off + sums.uncredited;
  if (sums.debited + sums.lost !== explained) {
    broken.push(`the runs do not explain the debits of ${sums.debited} lamports`);
  }
  const differences = await reconcile(market);
  if (differences.length > 0) broken.push('database and chain differ');
  const amounts = Object.entries(sums).map(([name, lamports]) => [name, String(lamports)] as const);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return {
    runs: started,
    faults,
    kills,
    dropped,
    ...Object.fromEntries(amounts),
    differences,
    broken,
    seconds,
  };
}

/** Finalizes confirmed charges and makes the server check them, because a repeated request waits for its charge. */
async function passTime(market: FaultMarket): Promise<void> {
  await askChain(market.chain, 'localchain_warp', { slots: SLOTS_UNTIL_FINAL });
  await market.query(
    `update charges set next_attempt_at = now() where state in ('signed', 'confirmed') and next_attempt_at > now()`,
  );
}

/** The interval of {@link passTime}, and the chain's advance each time. */
const TICK_MS = 2_000;
const SLOTS_UNTIL_FINAL = 40;
const SETTLE_MS = 600_000;
const [answered, , streamed, refused] = SCENARIOS as [Scenario, Scenario, Scenario, Scenario];
/** Most runs are answered. */
const WAYS = [...Array.from({ length: 15 }, () => answered), streamed, streamed, refused];

/** Whether a kill or a fork is due at this run. */
function isDue(number: number, runs: number, { least, everyRuns }: typeof KILLS): boolean {
  const step = Math.min(everyRuns, Math.floor(runs / (least + 1)));
  return number % step === step - 1;
}
