import { setTimeout as delay } from 'node:timers/promises';
import { decodePerQueryBalance, findPerQueryBalanceAddress } from '@agent-rental/program-client';
import { Random } from '@agent-rental/test/support/random';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import type { Log } from '../../run-battery.js';
import { BOTH_CURRENCIES, newPaidCall, type PaidCall } from '../paid-calls/paid-call.js';
import { settlePayments } from '../paid-calls/settle-payments.js';
import { ANSWER } from '../world/agent.js';
import { FaultMarket, RUN_PRICE } from '../world/market.js';
import { settle } from '../world/verify.js';
import { sendAndLeave, type Heard } from './leaving-caller.js';

const LISTINGS = 4;
const MAX_TRIES = 60;
const REST_MS = 300;
const SETTLE_MS = 600_000;
/** A paid call takes about as long. */
const LEAVES_WITHIN_MS = 1_000;
const AT_ONCE = 8;

interface LostAnswersOptions {
  /** Calls, each of another wallet: half of them are paid in SOL, half in USDC. */
  calls: number;
  seed: number;
  concurrency: number;
  log: Log;
}

type Fact = string | number | bigint | undefined;

/** A call, and the answer that its caller read at last. */
interface Ended {
  call: PaidCall;
  heard: Heard | undefined;
}

/**
 * Pays for calls, breaks the connection at a random moment after the payment was sent, and sends the same payload again until the
 * answer. Then it compares the answers with the chain and the records: one payment, one run, one charge and one result each.
 */
export const runLostAnswers = (options: LostAnswersOptions) =>
  FaultMarket.use((market) => lostAnswers(market, options), undefined, BOTH_CURRENCIES);

async function lostAnswers(market: FaultMarket, { calls, seed, concurrency, log }: LostAnswersOptions) {
  const startedAt = performance.now();
  const random = new Random(seed);
  const listings = await market.publish(LISTINGS);
  const url = `${market.served.dev.base_url}/v1/execute`;
  /** How far the calls were when their connections broke. */
  const broke: Record<string, number> = {};
  let requests = 0;

  async function send({ request, wallet }: PaidCall, leaves: boolean): Promise<Heard> {
    const leavesAfterMs = leaves ? random.below(LEAVES_WITHIN_MS) : undefined;
    requests += 1;
    const heard = await sendAndLeave({ url, ...request, leavesAfterMs });
    if (leaves) {
      const moment =
        heard.status === undefined ? await momentOf(market, wallet.publicKey.toBase58()) : 'answered';
      broke[moment] = (broke[moment] ?? 0) + 1;
    }
    return heard;
  }

  const numbers = Array.from({ length: calls }, (_, number) => number);
  const ended = await inParallel(numbers, concurrency, async (number): Promise<Ended> => {
    const currency = number % 2 === 0 ? 'sol' : 'usdc';
    const call = await newPaidCall(market, random.pick(listings), { number, currency, way: 'work' });
    if (number % 100 === 99) log(`${number + 1} calls, ${requests} requests`);
    // The first answer is lost in any case.
    await send(call, true);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const leaves = tries < 3 && random.chance(30);
      const heard = await send(call, leaves);
      if (heard.status === 200 && !leaves) return { call, heard };
      if (heard.status !== undefined && heard.status !== 200) {
        if (heard.status < 429) return { call, heard };
        await delay(REST_MS);
      }
    }
    return { call, heard: undefined };
  });
  await settlePayments(market);
  await settle(market, { timeoutMs: SETTLE_MS });
  const broken = (await inParallel(ended, AT_ONCE, (each) => wrongOf(market, each))).flat();
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return { seed, calls, requests, broke, seconds, broken };
}

/** How far a payment is. */
async function momentOf(market: FaultMarket, wallet: string): Promise<string> {
  const [payment] = await market.query<{ state: string }>('select state from payments where wallet = $1', [
    wallet,
  ]);
  const [run] = await market.query<{ status: string }>('select status from runs where wallet = $1', [wallet]);
  if (run) return `the run was ${run.status}`;
  return payment ? `the payment was ${payment.state}` : 'nothing was recorded';
}

/** Compares an answer with the chain and with the records of its payer. */
async function wrongOf(market: FaultMarket, { call, heard }: Ended): Promise<string[]> {
  const { wallet, listing, price } = call;
  const address = wallet.publicKey.toBase58();
  const told = `${heard?.status}: ${heard?.body}`;
  if (heard?.status !== 200) return [`${address} was answered ${told}`];
  const answer = JSON.parse(heard.body) as { run_id: string; status: string; output?: unknown };
  const [payments, runs, charges, account, spent] = await Promise.all([
    market.query<{ state: string }>('select state from payments where wallet = $1', [address]),
    market.query<{ id: string; status: string; cost: string }>(
      'select id, status, cost_lamports::text as cost from runs where wallet = $1',
      [address],
    ),
    market.query<{ state: string }>('select state from charges where wallet = $1', [address]),
    market.connection.getAccountInfo(findPerQueryBalanceAddress(wallet.publicKey, listing.address).address),
    call.spent(),
  ]);
  const charged = account ? decodePerQueryBalance(account.data).totalSpentLamports : undefined;
  const statesOf = (rows: readonly { state: string }[]) => rows.map(({ state }) => state).join();
  const [run] = runs;
  const facts: [what: string, is: Fact, expected: Fact][] = [
    ['its payments', statesOf(payments), 'funded'],
    ['its charges', statesOf(charges), 'finalized'],
    ['its runs', runs.length, 1],
    ['the run', run?.id, answer.run_id],
    ['its end', `${run?.status}, told as ${answer.status}`, 'completed, told as completed'],
    ['its output', JSON.stringify(answer.output), JSON.stringify(ANSWER)],
    ['its cost', run?.cost, String(RUN_PRICE)],
    ['the charge on the chain', charged, RUN_PRICE],
    ['the payer spent', spent, price],
  ];
  return facts
    .filter(([, is, expected]) => is !== expected)
    .map(([what, is, expected]) => `${address}, ${what}: ${is}, and not ${expected}`);
}
