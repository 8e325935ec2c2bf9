import { randomInt } from 'node:crypto';
import {
  ACCOUNT_SIZES,
  decodePerQueryBalance,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import { call, type Answer } from '@agent-rental/test/support/http';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { until } from '@agent-rental/test/support/timing/until';
import { killsOf } from '../crash-matrix/matrix.js';
import { BOTH_CURRENCIES, newPaidCall, type Currency, type PaidCall } from '../paid-calls/paid-call.js';
import type { Step } from '../proxies/step.js';
import { Lane } from '../world/lanes.js';
import { FaultMarket, RUN_PRICE, type Listing } from '../world/market.js';
import { stepsOfAll, writingSteps } from '../world/record.js';
import { pickAll, playRows, type MatrixOptions, type Row } from '../world/row-matrix.js';
import { PLAIN_RUN } from '../world/scenarios.js';
import { settle } from '../world/verify.js';

const LANES = 8;
const RECORDINGS = 3;
const REST_MS = 60_000;
/** The time for a call's writes after its answer. */
const AFTER_ANSWER_MS = 1_500;
const SIGNATURE_FEE_LAMPORTS = 5_000n;
/** In base58. */
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{80,88}$/;
const CURRENCIES = ['sol', 'usdc'] as const;

/** A kill at a step of a call that is paid in that currency. */
type PaymentRow = Row & { readonly currency: Currency };
/** Addresses of payers. */
const ADDRESSES = 2 ** 24;

/**
 * Kills the server at every step of a call that is paid for in SOL, and in USDC. After the next start a landed payment is a
 * balance, once, although no one asks. Then the payer sends the same payment again, and has one answer for one price.
 */
export const runPaymentMatrix = (options: Omit<MatrixOptions, 'lanes'>) =>
  FaultMarket.use((market) => matrix(market, options), undefined, BOTH_CURRENCIES);

async function matrix(market: FaultMarket, { pick = pickAll, log }: Omit<MatrixOptions, 'lanes'>) {
  // Each call has its own: the runs of one listing share statements, and a shared statement has no lane.
  const listings = await market.publish(LANES);
  const writes = await writingSteps(market);
  const rows: PaymentRow[] = [];
  for (const currency of CURRENCIES) {
    const recording = await recordPayment(market, currency, listings.slice(0, RECORDINGS));
    rows.push(...killsOf(recording, writes).map((row) => ({ ...row, currency })));
  }
  log(`${rows.length} rows`);
  const broken: string[] = [];
  const outcomes: Record<string, number> = {};
  const unreached = await playRows(pick(rows), LANES, log, async (batch) => {
    const ends = await playBatch(market, listings.slice(0, batch.length), batch);
    for (const [index, { wrong, outcome }] of ends.entries()) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      broken.push(...wrong.map((fault) => `${batch[index]?.name}: ${fault}`));
    }
    return ends.map(({ isReached }) => isReached);
  });
  return { rows: rows.length, outcomes, broken: [...unreached, ...broken] };
}

async function recordPayment(market: FaultMarket, currency: Currency, listings: readonly Listing[]) {
  const calls = await newCalls(market, listings, () => currency);
  const lanes = calls.map((paid) => laneOf(paid));
  await market.lanes.during(lanes, async () => {
    // One after another: runs that end together share statements, and a shared statement has no lane.
    for (const paid of calls) {
      const answer = await send(market, paid);
      if (answer?.status !== 200) throw new Error(`The paid call was answered ${JSON.stringify(answer)}`);
    }
  });
  return stepsOfAll({ ...PLAIN_RUN, name: `paid in the request, in ${currency}` }, lanes);
}

async function playBatch(market: FaultMarket, listings: readonly Listing[], rows: readonly PaymentRow[]) {
  const calls = await newCalls(market, listings, (index) => rows[index]?.currency ?? 'sol');
  const lanes = calls.map((paid, index) => laneOf(paid, rows[index]));
  await market.lanes.during(lanes, async () => {
    const answers = calls.map(async (paid, index) => {
      const answer = await send(market, paid);
      if (answer) lanes[index]?.answered();
    });
    await Promise.all(
      lanes.map(async (lane, index) => {
        const rested = answers[index]?.then(() => until(async () => lane.isReached, AFTER_ANSWER_MS, 10));
        await Promise.race([lane.reached, rested]).catch(() => lane.waited());
      }),
    );
    await market.kill();
    await Promise.all(answers);
  });
  await market.start();
  const ends = await inParallel(calls, LANES, async (paid) => {
    const unasked = await wrongOf(market, paid);
    return { paid, unasked };
  });
  await settle(market);
  return Promise.all(
    ends.map(async ({ paid, unasked }, index) => {
      const again = await repeat(market, paid);
      const wrong = [...unasked, ...(await wrongOf(market, paid))];
      const hasLanded = await landed(market, paid);
      if (hasLanded ? again.status !== 200 : again.status !== 402)
        wrong.push(`the repeat was answered ${again.status}: ${JSON.stringify(again.body)}`);
      const outcome = `${hasLanded ? 'paid' : 'not paid'}, then ${again.status}`;
      return { isReached: lanes[index]?.isReached === true, wrong, outcome };
    }),
  );
}

/** The faults in a payment that no one asks about, once it is at rest. */
async function wrongOf(market: FaultMarket, paid: PaidCall): Promise<string[]> {
  const { wallet, listing, price, lamports } = paid;
  const address = wallet.publicKey.toBase58();
  const isAtRest = await until(
    async () => {
      await market.query('update payments set next_attempt_at = now() where wallet = $1', [address]);
      const open = await market.query('select from payments where wallet = $1 and not is_final', [address]);
      if (open.length > 0) await market.finalize();
      return open.length === 0;
    },
    REST_MS,
    250,
  ).catch(() => false);
  if (!isAtRest) return ['the payment has not ended'];
  const { connection } = market;
  const row = await recordOf(market, paid);
  const info = await connection.getAccountInfo(
    findPerQueryBalanceAddress(wallet.publicKey, listing.address).address,
  );
  const spent = await paid.spent();
  if (!(await landed(market, paid))) {
    const wrong = row === undefined || row.state === 'failed' ? [] : [`it did not land and is ${row.state}`];
    if (info !== null || spent !== 0n) wrong.push(`it did not land, and ${spent} of the payer's are gone`);
    return wrong;
  }
  if (!info) return [`it landed, is ${row?.state}, and there is no balance`];
  const { totalDepositedLamports: deposited, totalSpentLamports: charged } = decodePerQueryBalance(info.data);
  const rents = await Promise.all(
    [ACCOUNT_SIZES.AccessCredential, ACCOUNT_SIZES.PerQueryBalance].map((size) =>
      connection.getMinimumBalanceForRentExemption(size),
    ),
  );
  const expected = rents.reduce((rest, rent) => rest - BigInt(rent), lamports - SIGNATURE_FEE_LAMPORTS);
  return [
    ...(row?.state === 'funded' ? [] : [`it landed and is ${row?.state}`]),
    ...(deposited === expected ? [] : [`${deposited} lamports were deposited and not ${expected}`]),
    ...(charged === 0n || charged === RUN_PRICE ? [] : [`the runs cost ${charged} lamports`]),
    ...(spent === price ? [] : [`the payer spent ${spent} and not ${price}`]),
  ];
}

/** The record of a payment. A wallet here has one. */
async function recordOf(market: FaultMarket, { wallet }: PaidCall) {
  const [row] = await market.query<{ signature: string; state: string }>(
    'select signature, state from payments where wallet = $1',
    [wallet.publicKey.toBase58()],
  );
  return row;
}

/** Whether the payment is on the chain. The server sends no payment that is not on record. */
async function landed(market: FaultMarket, paid: PaidCall): Promise<boolean> {
  const row = await recordOf(market, paid);
  if (!row) return false;
  const options = { searchTransactionHistory: true };
  const { value } = await market.connection.getSignatureStatus(row.signature, options);
  return value !== null && value.err === null;
}

const newCalls = (
  market: FaultMarket,
  listings: readonly Listing[],
  currencyOf: (index: number) => Currency,
): Promise<PaidCall[]> =>
  inParallel(listings, LANES, (listing, index) =>
    newPaidCall(market, listing, {
      number: randomInt(ADDRESSES),
      currency: currencyOf(index),
      way: 'answer',
    }),
  );

/** The texts and bytes that identify the steps of a paid call. */
function laneOf({ wallet, listing, signature }: PaidCall, row?: Row): Lane {
  const balance = findPerQueryBalanceAddress(wallet.publicKey, listing.address).address;
  const known = signature === undefined ? [] : [signature];
  const tokens = [wallet.publicKey.toBase58(), balance.toBase58(), ...known];
  const lane = new Lane(tokens, row?.fault, signaturesIn);
  lane.follow(Buffer.from(wallet.publicKey.toBytes()).toString('hex'));
  return lane;
}

/** The signature of a payment as it is recorded. In USDC the server makes it. */
const signaturesIn = ({ name, parameters }: Step): string[] =>
  name.startsWith('insert into "payments"') ? parameters.filter((value) => SIGNATURE.test(value)) : [];

/** The answer; undefined where the connection broke. */
const send = (market: FaultMarket, { request }: PaidCall): Promise<Answer | undefined> =>
  call(market.served, 'POST', '/v1/execute', request).catch(() => undefined);

/** Sends the payment again until the answer is not 503. */
async function repeat(market: FaultMarket, paid: PaidCall): Promise<Answer> {
  return until(async () => {
    const answer = await send(market, paid);
    return answer && answer.status !== 503 ? answer : undefined;
  }, REST_MS);
}
