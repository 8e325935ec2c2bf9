import { setImmediate } from 'node:timers/promises';
import { Keypair } from '@solana/web3.js';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChargeRow } from '../charge.js';
import { createReconciler } from './reconciler.js';

type Parts = Parameters<typeof createReconciler>[0];

const nothing = async () => undefined;

/** A reconciler over given parts; the others do nothing. */
function reconcilerWith(parts: { [Name in keyof Parts]?: object }) {
  return createReconciler({
    chain: { blockHeight: async () => 1n, ...parts.chain },
    charges: { takeDue: async () => [], ...parts.charges },
    states: { releaseAbandoned: nothing, creditUndelivered: nothing, ...parts.states },
    credits: { give: async () => false, giveBackUndelivered: nothing },
    signer: { ...parts.signer },
    indexer: { indexAccounts: nothing, ...parts.indexer },
    runs: {
      paid: async () => false,
      unpaid: nothing,
      settled: nothing,
      wasUndelivered: async () => false,
      ...parts.runs,
    },
    logger: pino({ level: 'silent' }),
  } as never);
}

it('indexes a balance once for all its paid charges, before any of them is final', async () => {
  const done: string[] = [];
  const balance_address = Keypair.generate().publicKey.toBase58();
  const due = (runId: string) => ({
    charge: { run_id: runId, state: states[runId], balance_address },
    signatures: [{ signature: runId, signedBytes: Buffer.alloc(0), lastValidBlockHeight: 9n }],
  });
  const states: Record<string, ChargeRow['state']> = { a: 'confirmed', b: 'signed' };
  const becomes = (from: string, to: string) => async (runId: string) => {
    if (states[runId] === from) done.push(`${runId} is ${to}`);
    return true;
  };
  const reconciler = reconcilerWith({
    chain: {
      statuses: async (signatures: string[]) =>
        signatures.map((signature) => ({
          err: null,
          confirmationStatus: signature === 'a' ? 'finalized' : 'confirmed',
        })),
    },
    charges: {
      takeDue: async () => [due('a'), due('b')],
      runsWaiting: async (runIds: readonly string[]) => [...runIds],
    },
    states: { confirm: becomes('signed', 'confirmed'), finalize: becomes('confirmed', 'finalized') },
    indexer: { indexAccounts: async (keys: unknown[]) => void done.push(`index ${keys.length}`) },
    runs: {
      async paid(runId: string) {
        done.push(`paid ${runId}`);
        return false;
      },
    },
  });
  await reconciler.reconcile();
  expect(done).toEqual(['index 1', 'paid a', 'a is finalized', 'b is confirmed', 'paid b']);
});

const REBUILT = {};
const refusedBy = (code: number) => ({ InstructionError: [1, { Custom: code }] });

interface Stuck {
  /** Its transactions, each with the last block it is valid at; else one that has left no trace. */
  transactions?: { status: object | null; lastValid: bigint }[];
  state?: ChargeRow['state'];
  /** The program's refusal of a new transaction. */
  simulated?: number;
  /** The protocol account has changed, and the program takes a transaction that was built anew. */
  isRebuilt?: boolean;
  isUndelivered?: boolean;
  wasConfirmed?: boolean;
  hasEnded?: boolean;
}

const EXPIRED = { status: null, lastValid: 99n };

/** The effect of one round on a charge, in block 100. */
async function effectOn({
  transactions = [EXPIRED],
  state = 'signed',
  simulated,
  isRebuilt = false,
  isUndelivered = false,
  wasConfirmed = false,
  hasEnded = false,
}: Stuck): Promise<string[]> {
  const done: string[] = [];
  const charge = {
    run_id: 'a',
    state,
    confirmed_at: wasConfirmed || state === 'confirmed' ? new Date() : null,
    balance_address: Keypair.generate().publicKey.toBase58(),
  };
  const signatures = transactions.map(({ lastValid }, index) => ({
    signature: `s${index}`,
    signedBytes: Buffer.alloc(0),
    lastValidBlockHeight: lastValid,
  }));
  const reconciler = reconcilerWith({
    chain: {
      blockHeight: async () => 100n,
      statuses: async () => transactions.map(({ status }) => status),
      send: async () => void done.push('send'),
      simulate: async (message: object) => ({
        error: message === REBUILT || simulated === undefined ? null : refusedBy(simulated),
        logs: [],
      }),
    },
    charges: { takeDue: async () => [{ charge, signatures }] },
    states: {
      sign: async () => {
        done.push('record');
        return hasEnded ? ['a'] : [];
      },
      end: async (_: string, failureCode: number | undefined) => {
        const to = charge.confirmed_at === null ? 'failed' : 'lost';
        done.push(failureCode === undefined ? `is ${to}` : `is ${to} by ${failureCode}`);
        return to;
      },
    },
    signer: {
      message: async () => ({}),
      rebuilt: async () => (isRebuilt ? REBUILT : undefined),
      sign: async () => {
        done.push('sign');
        return { signature: 'new', signedBytes: Buffer.alloc(0), lastValidBlockHeight: 200n };
      },
      countThatFit: async () => 1,
    },
    runs: {
      unpaid: async () => void done.push('unpaid'),
      settled: async () => void done.push('settled'),
      wasUndelivered: async () => isUndelivered,
    },
  });
  await reconciler.reconcile();
  return done;
}

const failedOn = (confirmationStatus: 'confirmed' | 'finalized') => ({
  status: { err: refusedBy(6003), confirmationStatus },
  lastValid: 99n,
});
const SIGNED = ['sign', 'record', 'send'];
const ended = (how: string) => ['unpaid', `is ${how}`, 'settled'];

describe('a charge none of whose transactions can land any more', () => {
  it.each<[string, Stuck, string[]]>([
    [
      'has failed when one of them did, and is not signed for ever [MON-7]',
      { transactions: [EXPIRED, failedOn('finalized')] },
      ended('failed by 6003'),
    ],
    [
      'has failed, too, when the first of them did [MON-7]',
      { transactions: [failedOn('finalized'), EXPIRED] },
      ended('failed by 6003'),
    ],
    ['is signed anew when none left a trace and the program would take it', {}, SIGNED],
    [
      'has failed when the program would refuse it: no fee is paid to learn that',
      { simulated: 6101 },
      ended('failed by 6101'),
    ],
    ['is kept for a used sequence: the transaction that used it may be found later', { simulated: 6100 }, []],
    ['is lost if it was confirmed once', { simulated: 6003, state: 'confirmed' }, ended('lost by 6003')],
    ['is not signed anew for a run that was not delivered', { isUndelivered: true }, ended('failed')],
    [
      'is signed again for such a run if it has a credit',
      { isUndelivered: true, wasConfirmed: true },
      SIGNED,
    ],
    ['is not sent when it has ended meanwhile', { hasEnded: true }, ['sign', 'record']],
    ['is built anew, since the treasury may have changed', { simulated: 2001, isRebuilt: true }, SIGNED],
    ['is given up after many', { transactions: Array.from({ length: 12 }, () => EXPIRED) }, ended('failed')],
  ])('%s', async (_, charge, effect) => {
    expect(await effectOn(charge)).toEqual(effect);
  });

  it.each([2001, 2005, 3011, 6004])(
    'is not given up for a fault of the service itself, such as an authority that is not accepted: %i',
    async (simulated) => {
      expect(await effectOn({ simulated, state: 'confirmed' })).toEqual([]);
    },
  );
});

it('a charge of which a transaction may still land is sent again while it is valid, and not signed anew', async () => {
  const open = { status: null, lastValid: 100n };
  expect(await effectOn({ transactions: [open], state: 'confirmed' })).toEqual(['send']);
  expect(await effectOn({ transactions: [open, open] })).toEqual(['send', 'send']);
  expect(await effectOn({ transactions: [EXPIRED, failedOn('confirmed')] })).toEqual([]);
  // One that only waits to become final.
  const landed = { status: { err: null, confirmationStatus: 'confirmed' }, lastValid: 100n };
  expect(await effectOn({ transactions: [landed], state: 'confirmed' })).toEqual([]);
});

describe('rounds', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('follow one another, however long one takes, and a stop waits for the last', async () => {
    let started = 0;
    let end: () => void = () => undefined;
    const slow = reconcilerWith({
      states: {
        releaseAbandoned: () =>
          new Promise<void>((resolve) => {
            started += 1;
            end = resolve;
          }),
      },
    });
    const { stop } = slow.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started).toBe(1);
    end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started).toBe(2);
    let isStopped = false;
    const stopped = stop().then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isStopped).toBe(false);
    end();
    await stopped;
    expect(started).toBe(2);
  });

  it('follow without a pause while batches are full, and give way to a stop', async () => {
    const full = Array.from({ length: 1_000 }, (_, index) => ({
      charge: { run_id: `${index}`, state: 'signed', confirmed_at: null },
      signatures: [],
    }));
    let left = 25;
    let taken = 0;
    const backlog = reconcilerWith({
      states: { end: nothing },
      charges: {
        takeDue: async () => {
          await setImmediate();
          taken += 1;
          left -= 1;
          return left >= 0 ? full : [];
        },
      },
      // So each charge, which has no transaction, ends.
      runs: { wasUndelivered: async () => true },
    });
    const { stop } = backlog.start();
    await vi.advanceTimersByTimeAsync(2_000);
    const enough = () => taken >= 26;
    for (let turn = 0; turn < 10_000 && !enough(); turn += 1) await setImmediate();
    expect(taken).toBe(26);
    left = Number.POSITIVE_INFINITY;
    await vi.advanceTimersByTimeAsync(2_000);
    await stop();
    expect(taken).toBeLessThan(1_000);
  });
});
