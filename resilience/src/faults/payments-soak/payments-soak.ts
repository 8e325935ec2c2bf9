import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '@agent-rental/test/support/random';
import { requiredBy } from '@agent-rental/test/support/pay-per-call/x402-client';
import { askChain } from '@agent-rental/test/support/replicas/market-chain';
import { PublicKey } from '@solana/web3.js';
import type { Log } from '../../run-battery.js';
import type { Fate } from '../proxies/step.js';
import { FaultMarket, type Listing } from '../world/market.js';
import { settle } from '../world/verify.js';
import { compareBooks, type Till } from './books.js';
import { BOTH_CURRENCIES } from '../paid-calls/paid-call.js';
import { Payer } from '../paid-calls/payer.js';
import { settlePayments } from '../paid-calls/settle-payments.js';

const LISTINGS = 4;
const KILLS = { least: 2, everyPayments: 200 };
const MOST_ATTEMPTS = 60;
const TICK_MS = 2_000;
const TICK_SLOTS = 10;
const REST_MS = 200;
const SETTLE_MS = 600_000;
const FATES = ['cut', 'cut_answer', 'refuse'] as const satisfies readonly Fate[];

interface PaymentsSoakOptions {
  payments: number;
  seed: number;
  concurrency: number;
  /** The probability of a fault at each statement and each RPC call, in per cent. */
  faultPercent: number;
  log: Log;
}

/**
 * Pays for calls in USDC while statements and RPC calls fail and the server is killed. Then it compares the till's books with the
 * chain.
 */
export const runPaymentsSoak = (options: PaymentsSoakOptions) =>
  FaultMarket.use((market) => paymentsSoak(market, options), undefined, BOTH_CURRENCIES);

async function paymentsSoak(
  market: FaultMarket,
  { payments, seed, concurrency, faultPercent, log }: PaymentsSoakOptions,
) {
  const startedAt = performance.now();
  const random = new Random(seed);
  const listings = await market.publish(LISTINGS);
  const till = await findTill(market, listings[0] as Listing);
  /** By place and kind. */
  const faults: Record<string, number> = {};
  let kills = 0;
  let refused = 0;
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
    isFaulty = true;
  }

  /** Pays for one call, as a careful client does. A reason where that fails. */
  async function pay(payer: Payer): Promise<string | undefined> {
    let headers: Record<string, string> | undefined;
    for (let left = MOST_ATTEMPTS; left > 0; left -= 1) {
      await restarting;
      // Now and then the same payment is sent three times at once.
      const atOnce = headers && random.chance(20) ? 3 : 1;
      const answers = await Promise.all(Array.from({ length: atOnce }, () => payer.send(headers)));
      const answer = answers.find((each) => each?.status === 200) ?? answers[0];
      if (answer?.status === 200) return undefined;
      if (answer?.status === 402) headers = await nextPayment(payer, answer);
      else if (
        answer &&
        answer.status < 500 &&
        answer.status !== 429 &&
        !answer.headers.has('payment-response')
      )
        return `a paid call was answered ${answer.status}: ${JSON.stringify(answer.body)}`;
      // With a receipt the payment is a balance, and an earlier attempt may still hold it.
      if (answer?.status !== 402) await pause(answer?.status === 403 ? TICK_MS : REST_MS);
    }
    return 'a paid call had no answer';
  }

  /** The payment of a 402. One in ten pays too little before, and is refused. */
  async function nextPayment(payer: Payer, answer: Parameters<Payer['pay']>[0]) {
    if (!random.chance(10)) return payer.pay(answer);
    const little = await payer.pay(answer, (accepted) => ({ ...accepted, amount: '1' }));
    const refusal = little && (await payer.send(little));
    if (refusal?.status === 402) refused += 1;
    return refusal?.status === 200 ? Promise.reject(new Error('Too little was taken.')) : payer.pay(answer);
  }

  const broken: string[] = [];
  const runs = new Map<string, number>();
  let started = 0;
  const time = setInterval(() => void passTime(market).catch(() => undefined), TICK_MS);
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (started < payments) {
        const number = (started += 1);
        const step = Math.min(KILLS.everyPayments, Math.floor(payments / (KILLS.least + 1)));
        if (number % step === step - 1) restarting = restarting.then(restart);
        if (number % 100 === 0) log(`${number} payments, ${kills} kills, ${refused} refused`);
        const payer = new Payer(market, random.pick(listings), number);
        await payer.begin();
        const wrong = await pay(payer);
        runs.set(payer.wallet.publicKey.toBase58(), wrong === undefined ? 1 : 0);
        if (wrong !== undefined) broken.push(wrong);
      }
    }),
  );
  await restarting;
  clearInterval(time);
  isFaulty = false;
  await market.passLeases();
  await settlePayments(market);
  await settle(market, { timeoutMs: SETTLE_MS });
  // Nothing moves while the books are read.
  await market.kill();
  await market.finalize();
  const books = await compareBooks(market, till, runs);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return { ...books, faults, kills, refused, broken: [...broken, ...books.broken], seconds };
}

/** The wallet and the mint that a 402 names. */
async function findTill(market: FaultMarket, listing: Listing): Promise<Till> {
  const answer = await new Payer(market, listing, 0).send();
  const [accepted] = answer ? requiredBy(answer).accepts : [];
  if (!accepted) throw new Error('No USDC is asked for.');
  return { address: new PublicKey(accepted.payTo), mint: new PublicKey(accepted.asset) };
}

/** Moves the chain on, and makes the server look after its payments and charges. */
async function passTime(market: FaultMarket): Promise<void> {
  await askChain(market.chain, 'localchain_warp', { slots: TICK_SLOTS });
  await market.query(
    `update charges set next_attempt_at = now() where state in ('signed', 'confirmed') and next_attempt_at > now()`,
  );
  await market.query('update payments set next_attempt_at = now() where not is_final');
}
