import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { Keypair, VersionedTransaction, type SignatureStatus } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { newWallet } from '../../testing/index.js';
import type { Charge } from '../charge.js';
import { createKeypairSigner } from '../../chain/index.js';
import { createChargePacks } from './charge-packs.js';
import { createChargeSigner } from './charge-transaction.js';
import { chargedRuns, isRefusalOf } from './charged-runs.js';

const LISTING = 'agent-aaaaaa';
const MAX_TRANSACTION_BYTES = 1_232;

function newCharge(wallet = newWallet(), listingId = LISTING): Charge {
  return {
    run_id: randomUUID(),
    wallet,
    listing_id: listingId,
    balance_address: newWallet(),
    price_lamports: 1_000_000n,
    sequence: 2n ** 40n,
  };
}

const treasury = Keypair.generate().publicKey;
const terms = { admin: treasury, treasury, authorities: [], minQueryPriceLamports: 1n, feeBps: 250 };

const CONFIRMED = { err: null, confirmationStatus: 'confirmed' };
/** The simulation's answer for an instruction that the program does not have. */
const NO_SUCH_INSTRUCTION = { InstructionError: [2, { Custom: 101 }] };

/** The real signer, over a chain whose priority fees are as given, and whose program may be of the version before. */
function newSigner(feeMicroLamports = 7n, hasBatches = true) {
  return createChargeSigner({
    chain: {
      programId: MARKETPLACE_PROGRAM_ID,
      simulate: async () => ({ error: hasBatches ? null : NO_SUCH_INSTRUCTION, logs: [] }),
      latestBlockhash: async () => ({ blockhash: newWallet(), lastValidBlockHeight: 100 }),
    } as never,
    authority: createKeypairSigner(Keypair.generate()),
    protocol: { current: async () => terms, refreshed: async () => terms },
    fees: { latest: () => feeMicroLamports },
  });
}

/** Packs whose writes and confirmations end when the test says so. */
function packing({ maxCharges }: { maxCharges?: number } = {}) {
  const written: { runs: readonly string[]; end(ended?: string[]): void }[] = [];
  const sent: string[][] = [];
  const confirmations: (() => void)[] = [];
  /** Waits for further charges, each ended by a call. */
  const gatherings: (() => void)[] = [];
  let isHeld = false;
  const packs = createChargePacks({
    signer: newSigner(),
    chain: {
      send: async (signedBytes: Uint8Array) => void sent.push(runsOf(signedBytes)),
      waitForConfirmation: () =>
        new Promise((resolve) => confirmations.push(() => resolve(CONFIRMED as SignatureStatus))),
    },
    states: {
      sign: (runs: readonly string[]) =>
        new Promise<string[]>((resolve) => {
          written.push({ runs, end: (ended = []) => resolve(ended) });
          if (!isHeld) resolve([]);
        }),
    },
    waitMs: 10_000,
    maxCharges,
    gather: () => new Promise<void>((resolve) => gatherings.push(resolve)),
  });
  const hold = () => (isHeld = true);
  const release = () => (isHeld = false);
  return { gatherings, packs, written, sent, confirmations, hold, release };
}

const runsOf = (signedBytes: Uint8Array) => chargedRuns(signedBytes).map(({ runId }) => runId);
const ids = (charges: readonly Charge[]) => charges.map(({ run_id: id }) => id);

const newCharges = (count: number) => Array.from({ length: count }, () => newCharge());

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

/** Runs the event loop until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate();
}

describe('charges of one listing', () => {
  it('that come together are one transaction, sent once for all of them [MON-9]', async () => {
    const { packs, sent } = packing();
    const charges = newCharges(3);
    const signings = await Promise.all(charges.map((charge) => packs.sign(charge)));
    expect(sent).toEqual([ids(charges)]);
    const signatures = signings.map((signing) => 'sent' in signing && signing.sent.signature);
    expect(new Set(signatures).size).toBe(1);
  });

  it('that come while one is written are the next transaction', async () => {
    const { packs, written, sent, hold, release } = packing();
    hold();
    const first = newCharge();
    const alone = packs.sign(first);
    await until(() => written.length === 1);
    const later = newCharges(2);
    const rest = later.map((charge) => packs.sign(charge));
    await turns(10);
    expect(written).toHaveLength(1);
    release();
    written[0]?.end();
    await Promise.all([alone, ...rest]);
    expect(sent).toEqual([[first.run_id], ids(later)]);
  });

  it('are as many transactions as they need, each within the bytes that one may have', async () => {
    const { packs, sent } = packing();
    const charges = newCharges(20);
    await Promise.all(charges.map((charge) => packs.sign(charge)));
    expect(sent.flat()).toEqual(ids(charges));
    expect(sent.map((runs) => runs.length)).toEqual([8, 8, 4]);
  });

  it('wait for others while several transactions are under way, and not before or after', async () => {
    const { packs, sent, confirmations, gatherings } = packing();
    for (let count = 0; count < 2; count += 1) {
      await packs.sign(newCharge());
      // The listing is done with it once nothing else waits.
      await turns(4);
    }
    const third = packs.sign(newCharge());
    await until(() => sent.length === 3);
    await third;
    // Three are under way: what comes now waits, and takes along what comes in later turns of the event loop.
    await until(() => gatherings.length === 1);
    const charges = newCharges(3);
    const signings: Promise<unknown>[] = [];
    for (const charge of charges) {
      signings.push(packs.sign(charge));
      await turns(4);
    }
    expect(sent).toHaveLength(3);
    gatherings[0]?.();
    await Promise.all(signings);
    expect(sent[3]).toEqual(ids(charges));
    // All are confirmed: the next goes at once.
    await until(() => gatherings.length === 2);
    confirmations.forEach((confirm) => confirm());
    gatherings[1]?.();
    await turns(4);
    const next = newCharge();
    await packs.sign(next);
    expect(sent[4]).toEqual([next.run_id]);
    expect(gatherings).toHaveLength(2);
  });

  it('are never in one transaction with charges of another listing', async () => {
    const { packs, sent } = packing();
    const [one, other] = [newCharge(), newCharge(newWallet(), 'agent-bbbbbb')];
    await Promise.all([packs.sign(one), packs.sign(other)]);
    expect(sent).toHaveLength(2);
    expect(sent.flat().toSorted()).toEqual(ids([one, other]).toSorted());
  });

  it('of which one was given back are signed anew without it, and only that is sent', async () => {
    const { packs, written, sent, hold, release } = packing();
    hold();
    const [gone, kept] = [newCharge(), newCharge()];
    const signings = [packs.sign(gone), packs.sign(kept)];
    await until(() => written.length === 1);
    release();
    written[0]?.end([gone.run_id]);
    const [first, second] = await Promise.all(signings);
    expect(first).toHaveProperty('unsigned');
    expect(second).toHaveProperty('sent');
    expect(sent).toEqual([[kept.run_id]]);
  });

  it('are each in a separate transaction where one is the most', async () => {
    const { packs, sent } = packing({ maxCharges: 1 });
    const charges = [newCharge(), newCharge()];
    await Promise.all(charges.map((charge) => packs.sign(charge)));
    expect(sent).toEqual(charges.map(({ run_id: id }) => [id]));
  });
});

describe('the transaction of a pack', () => {
  it.each([
    ['different buyers', true, () => newWallet(), 8],
    ['one buyer', true, (wallet: string) => wallet, 23],
    ['different buyers, for a program of the version before', false, () => newWallet(), 6],
    ['one buyer, for a program of the version before', false, (wallet: string) => wallet, 15],
  ])('of charges with %s is as large as it may be, and no larger', async (_, hasBatches, walletOf, most) => {
    const wallet = newWallet();
    const signer = newSigner(7n, hasBatches);
    const charges = Array.from({ length: 30 }, () => newCharge(walletOf(wallet)));
    const count = await signer.countThatFit(charges);
    expect(count).toBe(most);
    const { signedBytes } = await signer.sign(charges.slice(0, count));
    expect(signedBytes.length).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES);
    const tooMany = signer.sign(charges.slice(0, count + 1));
    const sizeOf = tooMany
      .then(({ signedBytes: bytes }) => bytes.length)
      .catch(() => Number.POSITIVE_INFINITY);
    expect(await sizeOf).toBeGreaterThan(MAX_TRANSACTION_BYTES);
  });

  /** Two charges that are signed for a program, which has batches or not. */
  async function signedPair(hasBatches: boolean) {
    const charges = newCharges(2);
    const { signedBytes } = await newSigner(7n, hasBatches).sign(charges);
    const [first = '', second = ''] = ids(charges);
    return { signedBytes, first, second };
  }

  it('is one instruction, read back by its runs, and its failure is the refusal of one of them alone [MON-9]', async () => {
    const { signedBytes, first, second } = await signedPair(true);
    expect(chargedRuns(signedBytes)).toEqual([
      { runId: first, instruction: 2, place: 0 },
      { runId: second, instruction: 2, place: 1 },
    ]);
    const refused = (place: number) => ({ InstructionError: [2, { Custom: 6003 + place * 0x1_0000 }] });
    expect(isRefusalOf(second, signedBytes, refused(2))).toBe(true);
    expect(isRefusalOf(first, signedBytes, refused(2))).toBe(false);
    expect(isRefusalOf(first, signedBytes, refused(1))).toBe(true);
    // These refuse no single charge: what all share, an index beyond the charges, a small budget, an error outside instructions.
    for (const error of [
      refused(0),
      refused(3),
      { InstructionError: [2, 'ComputationalBudgetExceeded'] },
      { InstructionError: [1, { Custom: 6003 + 0x1_0000 }] },
      'InsufficientFundsForFee',
    ]) {
      expect([first, second].map((run) => isRefusalOf(run, signedBytes, error))).toEqual([false, false]);
    }
  });

  it('is an instruction for each charge where the program is of the version before [MON-9]', async () => {
    const { signedBytes, first, second } = await signedPair(false);
    expect(chargedRuns(signedBytes)).toEqual([
      { runId: first, instruction: 2, place: undefined },
      { runId: second, instruction: 3, place: undefined },
    ]);
    const error = { InstructionError: [3, { Custom: 6003 }] };
    expect(isRefusalOf(second, signedBytes, error)).toBe(true);
    expect(isRefusalOf(first, signedBytes, error)).toBe(false);
  });

  it('of one charge fails for that charge, whatever the error', async () => {
    const charge = newCharge();
    const { signedBytes } = await newSigner(0n).sign([charge]);
    expect(chargedRuns(signedBytes)).toEqual([{ runId: charge.run_id, instruction: 1, place: undefined }]);
    const error = { InstructionError: [0, 'ComputationalBudgetExceeded'] };
    expect(isRefusalOf(charge.run_id, signedBytes, error)).toBe(true);
    expect(VersionedTransaction.deserialize(signedBytes).message.compiledInstructions).toHaveLength(2);
  });
});
