import { randomBytes } from 'node:crypto';
import { PublicKey, type SignatureStatus } from '@solana/web3.js';
import { pino } from 'pino';
import { afterAll, expect, it, vi } from 'vitest';
import { newWallet, openTestDatabase } from '../testing/index.js';
import { createPaymentRepository, removeFailedPayments } from './payment-repository.js';
import type { RecentBlockhash } from '../chain/index.js';
import type { Payment, Transfer } from './payment.js';
import { createSettler } from './settle.js';

const database = await openTestDatabase();
afterAll(() => database.close());

const CONFIRMED = { err: null, confirmationStatus: 'confirmed' } as const;
const FINAL = { err: null, confirmationStatus: 'finalized' } as const;

/** A payment in the database, its settler, and the chain that the settler sees. */
async function received({ wallet = newWallet() } = {}) {
  const { db } = database;
  const payments = createPaymentRepository(db);
  const statusOf = new Map<string, Partial<SignatureStatus>>();
  const sent: string[] = [];
  const chain: { height: bigint; recent?: RecentBlockhash } = { height: 100n };
  const signedOver: (string | undefined)[] = [];
  let indexed = 0;
  const signer = {
    sign: async (_: Payment, recent?: RecentBlockhash): Promise<Transfer> => {
      signedOver.push(recent?.blockhash);
      const signature = randomBytes(32).toString('hex');
      return {
        kind: 'fund',
        signature,
        signedBytes: Buffer.from(signature),
        lastValidBlockHeight: chain.height + 150n,
        lamports: 3n,
        units: null,
        rentLamports: 4n,
        feeLamports: 5n,
      };
    },
  };
  const settler = createSettler({
    chain: {
      programId: PublicKey.default,
      statuses: async (signatures) =>
        signatures.map((each) => (statusOf.get(each) ?? null) as SignatureStatus | null),
      send: async (bytes) => void sent.push(Buffer.from(bytes).toString()),
      blockHeight: async () => chain.height,
      latestBlockhash: async () => ({ blockhash: '', lastValidBlockHeight: 250, lifeSeconds: 60 }),
      waitForConfirmation: async () => null,
      blockhashAfter: async () => chain.recent,
    },
    payments,
    signer,
    indexer: { indexAccounts: async () => void (indexed += 1) },
    logger: pino({ level: 'silent' }),
  });
  const signature = randomBytes(32).toString('hex');
  await settler.receive({
    signature,
    protocol: 'mpp',
    challenge_id: 'challenge',
    wallet,
    listing_id: 'listing',
    price_lamports: 3n,
    lamports: 12n,
    units: null,
    identifier: null,
    signed_bytes: Buffer.from(signature),
    last_valid_block_height: 250n,
  });
  const row = async () => {
    const found = await payments.find(signature);
    if (!found) throw new Error('The payment is gone.');
    return found;
  };
  const transfer = async () => (await row()).transfer_signature ?? '';
  return {
    wallet,
    signature,
    chain,
    sent,
    signedOver,
    settle: () => settler.settle(signature),
    statusOf,
    row,
    transfer,
    state: async () => (await row()).state,
    indexed: () => indexed,
    /** One look at each open payment. */
    async round() {
      await db
        .updateTable('payments')
        .set({ next_attempt_at: new Date(0) })
        .where('signature', '=', signature)
        .execute();
      await settler.round();
    },
    async funded() {
      statusOf.set(signature, CONFIRMED);
      await this.round();
      await this.round();
      statusOf.set(await transfer(), CONFIRMED);
      await this.round();
    },
  };
}

it('follows a payment from its record to a balance that no fork takes back', async () => {
  const { signature, sent, statusOf, row, transfer, state, round, indexed } = await received();
  expect(sent).toEqual([signature]);
  await round();
  expect([await state(), sent]).toEqual(['received', [signature, signature]]);
  statusOf.set(signature, CONFIRMED);
  await round();
  await round();
  const first = await transfer();
  expect([await state(), sent.at(-1)]).toEqual(['landed', first]);
  statusOf.set(first, CONFIRMED);
  await round();
  expect([await state(), indexed()]).toEqual(['funded', 1]);
  expect(await row()).toMatchObject({ is_final: false, transfer_lamports: 3n, transfer_rent_lamports: 4n });
  statusOf.set(signature, FINAL);
  statusOf.set(first, FINAL);
  await round();
  expect(await row()).toMatchObject({ is_final: true, signed_bytes: null, transfer_bytes: null });
});

it('signs a transfer anew only once the old one can never land', async () => {
  const { signature, chain, statusOf, transfer, round, state } = await received();
  statusOf.set(signature, FINAL);
  await round();
  await round();
  const first = await transfer();
  chain.height = 250n;
  await round();
  expect(await transfer()).toBe(first);
  chain.height = 251n;
  await round();
  const second = await transfer();
  expect(second).not.toBe(first);
  statusOf.set(second, FINAL);
  await round();
  expect(await state()).toBe('funded');
});

it('takes nothing of a payment that never lands, and forgets it after a week', async () => {
  const { signature, chain, round, state } = await received();
  chain.height = 251n;
  await round();
  expect(await state()).toBe('failed');
  await removeFailedPayments(database.db);
  expect(await state()).toBe('failed');
  await database.db
    .updateTable('payments')
    .set({ updated_at: new Date(Date.now() - 8 * 86_400_000) })
    .where('signature', '=', signature)
    .execute();
  await removeFailedPayments(database.db);
  await expect(state()).rejects.toThrow('gone');
});

it('makes the balance again where a fork drops the transfer', async () => {
  const payment = await received();
  await payment.funded();
  const first = await payment.transfer();
  payment.statusOf.delete(first);
  await payment.round();
  // While it may land again, the same bytes.
  expect([await payment.state(), payment.sent.at(-1)]).toEqual(['funded', first]);
  payment.chain.height = 251n;
  await payment.round();
  expect(await payment.state()).toBe('landed');
  await payment.round();
  expect(await payment.transfer()).not.toBe(first);
});

it('sends a payment again that a fork drops, and counts one that is gone for good as lost', async () => {
  const payment = await received();
  await payment.funded();
  payment.statusOf.delete(payment.signature);
  await payment.round();
  expect([await payment.state(), payment.sent.at(-1)]).toEqual(['funded', payment.signature]);
  payment.chain.height = 251n;
  await payment.round();
  expect(await payment.row()).toMatchObject({ state: 'lost', is_final: true });
});

it('makes one transfer at a time into a balance', async () => {
  const first = await received();
  const second = await received({ wallet: first.wallet });
  for (const { signature, statusOf } of [first, second]) statusOf.set(signature, FINAL);
  for (const { round } of [first, first, second, second]) await round();
  expect(await second.transfer()).toBe('');
  first.statusOf.set(await first.transfer(), FINAL);
  await first.round();
  await second.round();
  expect(await second.transfer()).not.toBe('');
});

it('keeps the first of two transfers that are signed at once', async () => {
  const payments = createPaymentRepository(database.db);
  const { signature, statusOf, round, transfer } = await received();
  statusOf.set(signature, FINAL);
  await round();
  await round();
  const kept = await transfer();
  const other = {
    kind: 'fund',
    signature: 'other',
    signedBytes: Buffer.alloc(0),
    lastValidBlockHeight: 1n,
  } as const;
  const late = { ...other, lamports: 1n, units: null, rentLamports: 0n, feeLamports: 0n };
  expect(await payments.beginTransfer(signature, late, null)).toBe(false);
  expect(await transfer()).toBe(kept);
});

const PROCESSED = { err: null, confirmationStatus: 'processed' } as const;

it('passes a payment on before its confirmation, over a blockhash after it, and waits for both', async () => {
  const { signature, chain, statusOf, sent, signedOver, row, round, settle } = await received();
  chain.recent = { blockhash: 'after the payment', lastValidBlockHeight: 240 };
  statusOf.set(signature, PROCESSED);
  const settled = settle();
  const transfer = await vi.waitUntil(async () => (await row()).transfer_signature, { timeout: 15_000 });
  await vi.waitUntil(() => sent.includes(transfer), { timeout: 15_000 });
  expect(signedOver).toEqual(['after the payment']);
  statusOf.set(transfer, CONFIRMED);
  await round();
  // Its own confirmation is still missing.
  expect((await row()).state).toBe('received');
  statusOf.set(signature, CONFIRMED);
  expect(await settled).toMatchObject({ state: 'funded', transfer_signature: transfer });
});

it('signs no other transfer for a payment that a fork dropped with its early transfer', async () => {
  const { signature, chain, statusOf, signedOver, row, round, settle } = await received();
  chain.recent = { blockhash: 'after the payment', lastValidBlockHeight: 240 };
  statusOf.set(signature, PROCESSED);
  const settled = settle();
  await vi.waitUntil(async () => (await row()).transfer_signature, { timeout: 15_000 });
  statusOf.delete(signature);
  chain.height = 251n;
  await round();
  expect(await settled).toMatchObject({ state: 'failed' });
  expect(signedOver).toHaveLength(1);
});
