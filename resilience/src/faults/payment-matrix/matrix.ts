import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_SIZES,
  decodePerQueryBalance,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import { call, type Answer } from '@agent-rental/test/support/http';
import {
  paymentChallenge,
  paymentCredential,
  signPayment,
  type PaymentChallenge,
} from '@agent-rental/test/support/payments';
import { newRenter } from '@agent-rental/test/support/renter';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { until } from '@agent-rental/test/support/timing/until';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { killsOf } from '../crash-matrix/matrix.js';
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
/** The base fee and the priority fee of the payer's transaction. */
const PAYER_FEE_LAMPORTS = 5_001n;

/** A call that its caller pays for in the request. */
interface PaidCall {
  readonly wallet: Keypair;
  readonly address: string;
  readonly listing: Listing;
  readonly challenge: PaymentChallenge;
  readonly signature: string;
  readonly before: bigint;
  readonly request: { body: object; headers: Record<string, string> };
}

/**
 * Kills the server at every step of a paid call. After the next start a landed payment is a balance, once, although no one
 * asks. Then the payer sends the same payment again, and has one answer for one price.
 */
export const runPaymentMatrix = (options: Omit<MatrixOptions, 'lanes'>) =>
  FaultMarket.use((market) => matrix(market, options));

async function matrix(market: FaultMarket, { pick = pickAll, log }: Omit<MatrixOptions, 'lanes'>) {
  // Each call has its own: the runs of one listing share statements, and a shared statement has no lane.
  const listings = await market.publish(LANES);
  const writes = await writingSteps(market);
  const rows = killsOf(await recordPayment(market, listings.slice(0, RECORDINGS)), writes);
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

async function recordPayment(market: FaultMarket, listings: readonly Listing[]) {
  const calls = await newCalls(market, listings);
  const lanes = calls.map((paid) => laneOf(paid));
  await market.lanes.during(lanes, async () => {
    // One after another: runs that end together share statements, and a shared statement has no lane.
    for (const paid of calls) {
      const answer = await send(market, paid);
      if (answer?.status !== 200) throw new Error(`The paid call was answered ${JSON.stringify(answer)}`);
    }
  });
  return stepsOfAll({ ...PLAIN_RUN, name: 'paid in the request' }, lanes);
}

async function playBatch(market: FaultMarket, listings: readonly Listing[], rows: readonly Row[]) {
  const calls = await newCalls(market, listings);
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
  const { wallet, listing, challenge, before, signature } = paid;
  const isAtRest = await until(
    async () => {
      await market.query('update payments set next_attempt_at = now() where signature = $1', [signature]);
      const open = await market.query('select from payments where signature = $1 and not is_final', [
        signature,
      ]);
      if (open.length > 0) await market.finalize();
      return open.length === 0;
    },
    REST_MS,
    250,
  ).catch(() => false);
  if (!isAtRest) return ['the payment has not ended'];
  const { connection } = market;
  const [row] = await market.query<{ state: string }>('select state from payments where signature = $1', [
    signature,
  ]);
  const info = await connection.getAccountInfo(
    findPerQueryBalanceAddress(wallet.publicKey, listing.address).address,
  );
  const spent = before - BigInt(await connection.getBalance(wallet.publicKey));
  if (!(await landed(market, paid))) {
    const wrong = row === undefined || row.state === 'failed' ? [] : [`it did not land and is ${row.state}`];
    if (info !== null || spent !== 0n) wrong.push(`it did not land, and ${spent} lamports are gone`);
    return wrong;
  }
  if (!info) return [`it landed, is ${row?.state}, and there is no balance`];
  const { totalDepositedLamports: deposited, totalSpentLamports: charged } = decodePerQueryBalance(info.data);
  const rents = await Promise.all(
    [ACCOUNT_SIZES.AccessCredential, ACCOUNT_SIZES.PerQueryBalance].map((size) =>
      connection.getMinimumBalanceForRentExemption(size),
    ),
  );
  const expected = rents.reduce(
    (rest, rent) => rest - BigInt(rent),
    challenge.amount - SIGNATURE_FEE_LAMPORTS,
  );
  return [
    ...(row?.state === 'funded' ? [] : [`it landed and is ${row?.state}`]),
    ...(deposited === expected ? [] : [`${deposited} lamports were deposited and not ${expected}`]),
    ...(charged === 0n || charged === RUN_PRICE ? [] : [`the runs cost ${charged} lamports`]),
    ...(spent === challenge.amount + PAYER_FEE_LAMPORTS ? [] : [`the payer spent ${spent} lamports`]),
  ];
}

async function landed({ connection }: FaultMarket, { signature }: PaidCall): Promise<boolean> {
  const { value } = await connection.getSignatureStatus(signature, { searchTransactionHistory: true });
  return value !== null && value.err === null;
}

const newCalls = (market: FaultMarket, listings: readonly Listing[]): Promise<PaidCall[]> =>
  inParallel(listings, LANES, (listing) => newCall(market, listing));

async function newCall(market: FaultMarket, listing: Listing): Promise<PaidCall> {
  const { wallet } = await newRenter(market.served);
  const body = { agent_id: listing.id, task: `answer ${randomUUID()}` };
  const asked = await call(market.served, 'POST', '/v1/execute', { body });
  const challenge = paymentChallenge(asked.headers);
  const transaction = signPayment(challenge, wallet);
  return {
    wallet,
    address: wallet.publicKey.toBase58(),
    listing,
    challenge,
    signature: bs58.encode(transaction.signatures[0] ?? []),
    before: BigInt(await market.connection.getBalance(wallet.publicKey)),
    request: { body, headers: { authorization: paymentCredential(challenge, transaction) } },
  };
}

/** The texts and bytes that identify the steps of a paid call. */
function laneOf({ wallet, address, signature, listing }: PaidCall, row?: Row): Lane {
  const balance = findPerQueryBalanceAddress(wallet.publicKey, listing.address).address;
  const lane = new Lane([address, signature, balance.toBase58()], row?.fault);
  lane.follow(Buffer.from(wallet.publicKey.toBytes()).toString('hex'));
  return lane;
}

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
