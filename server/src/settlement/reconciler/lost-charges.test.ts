import { randomBytes } from 'node:crypto';
import { revokePerQueryAccess } from '@agent-rental/program-client';
import type { SignatureStatus } from '@solana/web3.js';
import type { Insertable } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../database/schema.js';
import { createMetrics, type Metrics } from '../../operations/index.js';
import {
  insertBalance,
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
  startTestMarket,
} from '../../testing/index.js';
import { createChargeRepository } from '../charge-repository.js';
import { createChargeStates, type ChargeStates } from '../charge-states.js';
import { createCredits } from '../credits.js';
import { createReconciler } from './reconciler.js';

const INSUFFICIENT = { InstructionError: [1, { Custom: 6003 }] };

let listing: Insertable<Database['listings']>;
let metrics: Metrics;
let states: ChargeStates;
const database = await openTestDatabase();
afterAll(() => database.close());
beforeEach(async () => {
  listing = await insertListing(database.db);
  metrics = createMetrics();
  states = createChargeStates(database.db, {
    unfinalizedCapLamports: 10n ** 18n,
    moved: (state) => metrics.chargeMoved(state),
  });
});

/** A chain whose fork drops all transactions when the test says so, and which then refuses new ones if it is told. */
class ForkingChain {
  readonly statusOf = new Map<string, Partial<SignatureStatus>>();
  refusal: object | null = null;
  sent = 0;
  height = 0n;

  /** Every transaction so far is gone, and can come no more. */
  drop(): void {
    this.statusOf.clear();
    this.height += 200n;
  }
}

/** A charge in the database, the reconciler and the chain that it sees. */
async function followed() {
  const { db } = database;
  const chain = new ForkingChain();
  const charges = createChargeRepository(db);
  const credits = createCredits(db);
  const wallet = newWallet();
  const balanceAddress = await insertBalance(db, wallet, listing.address);
  const runId = await insertRun(db, listing, wallet);
  const order = { runId, wallet, listingId: listing.id, balanceAddress, priceLamports: 10n };
  await charges.reserve(order);
  const newTransaction = () => ({
    signature: randomBytes(32).toString('hex'),
    signedBytes: Buffer.alloc(1),
    lastValidBlockHeight: chain.height + 150n,
  });
  const reconciler = createReconciler({
    chain: {
      blockHeight: async () => chain.height,
      statuses: async (signatures) =>
        signatures.map((signature) => (chain.statusOf.get(signature) ?? null) as SignatureStatus | null),
      send: async () => void (chain.sent += 1),
      simulate: async () => ({ error: chain.refusal as never, logs: [] }),
    },
    charges,
    states,
    credits,
    signer: {
      message: async () => ({}) as never,
      rebuilt: async () => undefined,
      sign: async () => newTransaction(),
      countThatFit: async () => 1,
    },
    indexer: { indexAccounts: async () => undefined },
    runs: {
      paid: async (id) => (await statusOf(id)) === 'undelivered',
      unpaid: async () => undefined,
      settled: async () => undefined,
      wasUndelivered: async (id) => (await statusOf(id)) === 'undelivered',
    },
    logger: pino({ level: 'silent' }),
  });
  const statusOf = async (id: string) =>
    (await db.selectFrom('runs').select('status').where('id', '=', id).executeTakeFirst())?.status;

  await states.sign([runId], newTransaction());
  const newest = async () => (await charges.signaturesOf(runId)).at(-1) ?? '';
  const round = () => reconciler.reconcile('all');
  /** The newest transaction is on the chain, as told. */
  const lands = async (status: Partial<SignatureStatus>) => void chain.statusOf.set(await newest(), status);
  const confirm = async () => {
    await lands({ err: null, confirmationStatus: 'confirmed' });
    await round();
  };
  return {
    chain,
    runId,
    credits,
    round,
    lands,
    confirm,
    dropConfirmed: async () => {
      await confirm();
      chain.drop();
    },
    becomes: async (status: 'undelivered' | 'completed') => {
      await db.updateTable('runs').set({ status }).where('id', '=', runId).execute();
    },
    charge: async () => charges.find(runId),
    hasCredit: () => credits.has(wallet, listing.id),
    takeCredit: async () => {
      const freeRun = await insertRun(db, listing, wallet);
      return charges.reserve({ ...order, runId: freeRun });
    },
  };
}

const moves = async () => (await metrics.expose()).body;

describe('a charge that was confirmed and that a fork dropped', () => {
  it('is signed anew, and is lost when that is refused because the balance was withdrawn [MON-7]', async () => {
    const { chain, round, charge, becomes, dropConfirmed } = await followed();
    await dropConfirmed();
    await becomes('completed');
    await round();
    expect(await charge()).toMatchObject({ state: 'signed' });
    chain.drop();
    chain.refusal = INSUFFICIENT;
    await round();
    expect(await charge()).toMatchObject({ state: 'lost', failure_code: 6003 });
    expect(await moves()).toContain('agent_rental_charges_total{state="lost"} 1');
    expect(await moves()).toContain('agent_rental_charges_total{state="failed"} 0');
  });

  it('is lost when the transaction that was signed anew fails on the chain', async () => {
    const { round, lands, charge, dropConfirmed } = await followed();
    await dropConfirmed();
    await round();
    await lands({ err: INSUFFICIENT, confirmationStatus: 'finalized' });
    await round();
    expect(await charge()).toMatchObject({ state: 'lost', failure_code: 6003 });
  });

  it('is lost after 12 transactions of which none stayed', async () => {
    const { chain, round, charge, confirm } = await followed();
    await confirm();
    for (let transactions = 1; transactions < 12; transactions += 1) {
      chain.drop();
      await round();
    }
    expect(await charge()).toMatchObject({ state: 'signed' });
    expect(chain.sent).toBe(11);
    chain.drop();
    await round();
    expect(await charge()).toMatchObject({ state: 'lost', failure_code: null });
  });

  it('takes the credit of its undelivered run with it while no run has used that', async () => {
    const { chain, round, confirm, becomes, charge, hasCredit } = await followed();
    await becomes('undelivered');
    await confirm();
    expect(await hasCredit()).toBe(true);
    chain.drop();
    await round();
    // It has a credit, so it is charged again.
    expect(await charge()).toMatchObject({ state: 'signed' });
    chain.drop();
    chain.refusal = INSUFFICIENT;
    await round();
    expect(await charge()).toMatchObject({ state: 'lost' });
    expect(await hasCredit()).toBe(false);
    await round();
    expect(await hasCredit()).toBe(false);
  });

  it('leaves the record of a credit that a run has used', async () => {
    const { chain, round, confirm, becomes, charge, credits, takeCredit, runId } = await followed();
    await becomes('undelivered');
    await confirm();
    expect(await takeCredit()).toBe('credited');
    chain.drop();
    chain.refusal = INSUFFICIENT;
    await round();
    expect(await charge()).toMatchObject({ state: 'lost' });
    expect(await credits.wasGiven(runId)).toBe(true);
  });

  it('that is confirmed again is paid once, and each state is counted', async () => {
    const { round, lands, charge, dropConfirmed } = await followed();
    await dropConfirmed();
    await round();
    await lands({ err: null, confirmationStatus: 'finalized' });
    await round();
    expect(await charge()).toMatchObject({ state: 'finalized' });
    const counted = (await moves())
      .split('\n')
      .filter((line) => line.startsWith('agent_rental_charges_total') && !line.endsWith(' 0'));
    expect(counted.toSorted()).toEqual([
      'agent_rental_charges_total{state="confirmed"} 2',
      'agent_rental_charges_total{state="finalized"} 1',
      'agent_rental_charges_total{state="signed"} 2',
    ]);
  });
});

it('a charge is lost on the program, too, when a fork drops it and its balance is gone before it lands again [MON-7]', async () => {
  const market = await startTestMarket(database);
  try {
    const listed = await market.list(1_000_000n);
    const renter = await market.rent(listed, 5_000_000n, 1_000_000n);
    const charge = await market.reserve(listed, renter.publicKey, 1_000_000n);
    await market.settlement().charge(charge, Promise.resolve(true)).confirmed;
    await market.drop(...(await market.charges.signaturesOf(charge.run_id)));
    const access = { buyer: renter.publicKey, listingId: listed.id };
    await market.send(
      [revokePerQueryAccess({ ...access, revoker: listed.creator.publicKey })],
      listed.creator,
    );
    await market.expire();
    await market.reconcile();
    expect(await market.charges.find(charge.run_id)).toMatchObject({ state: 'lost' });
  } finally {
    await market.close();
  }
});

it('a charge that was never confirmed has failed, and is not lost', async () => {
  const { chain, round, charge } = await followed();
  chain.drop();
  chain.refusal = INSUFFICIENT;
  await round();
  expect(await charge()).toMatchObject({ state: 'failed', failure_code: 6003 });
  expect(await moves()).toContain('agent_rental_charges_total{state="failed"} 1');
});
