import { setImmediate } from 'node:timers/promises';
import { Keypair, type SignatureStatus } from '@solana/web3.js';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Chain } from '../../chain/index.js';
import type { ChargeRow, OpenCharge } from '../charge.js';
import type { ChargeRepository } from '../charge-repository.js';
import type { ChargeStates } from '../charge-states.js';
import { createReconciler } from './reconciler.js';

type Status = 'confirmed' | 'finalized' | null;

/** Charges in memory, each with one transaction of the given status. */
function world() {
  const charges = new Map<string, ChargeRow>();
  const statuses = new Map<string, Status>();
  const done: string[] = [];
  const become = (runId: string, from: string, to: ChargeRow['state']) => {
    const charge = charges.get(runId);
    if (charge?.state === from) {
      done.push(`${runId} is ${to}`);
      charge.state = to;
    }
    return true;
  };
  const reconciler = createReconciler({
    chain: {
      blockHeight: async () => 1n,
      statuses: async (signatures: string[]) =>
        signatures.map((signature) => {
          const confirmationStatus = statuses.get(signature);
          return confirmationStatus ? ({ err: null, confirmationStatus } as SignatureStatus) : null;
        }),
      send: async () => void done.push('send'),
    } as unknown as Chain,
    charges: {
      takeDue: async () =>
        [...charges.values()]
          .filter(({ state }) => state === 'signed' || state === 'confirmed')
          .map((charge) => ({
            charge: { ...charge },
            signatures: [
              { signature: charge.run_id, signedBytes: Buffer.alloc(0), lastValidBlockHeight: 9n },
            ],
          })),
      runsWaiting: async (runIds: readonly string[]) => [...runIds],
    } as unknown as ChargeRepository,
    states: {
      releaseAbandoned: async () => undefined,
      creditUndelivered: async () => undefined,
      confirm: async (runId: string) => become(runId, 'signed', 'confirmed'),
      finalize: async (runId: string) => become(runId, 'confirmed', 'finalized'),
    } as unknown as ChargeStates,
    credits: { give: async () => false, giveBackUndelivered: async () => undefined },
    signer: {} as never,
    indexer: { indexAccounts: async (keys: unknown[]) => void done.push(`index ${keys.length}`) },
    runs: {
      async paid(runId) {
        done.push(`paid ${runId}`);
        return false;
      },
      unpaid: async () => undefined,
      settled: async () => undefined,
      wasUndelivered: async () => false,
    },
    logger: pino({ level: 'silent' }),
  });
  const address = Keypair.generate().publicKey.toBase58();
  return {
    add: (runId: string, state: ChargeRow['state'], status: Status) => {
      charges.set(runId, { run_id: runId, state, balance_address: address } as ChargeRow);
      statuses.set(runId, status);
    },
    becomes: (runId: string, status: Status) => statuses.set(runId, status),
    /** The effect of one round. */
    round: async () => {
      done.length = 0;
      await reconciler.reconcile();
      return [...done];
    },
  };
}

it('indexes a balance once for all its paid charges, before any of them is final', async () => {
  const { add, round } = world();
  add('a', 'confirmed', 'finalized');
  add('b', 'signed', 'confirmed');
  expect(await round()).toEqual(['index 1', 'paid a', 'a is finalized', 'b is confirmed', 'paid b']);
});

it('does nothing for a charge that only waits to become final', async () => {
  const { add, becomes, round } = world();
  add('a', 'signed', 'confirmed');
  expect(await round()).toContain('a is confirmed');
  expect(await round()).toEqual([]);
  becomes('a', 'finalized');
  expect(await round()).toContain('a is finalized');
});

it('sends a charge again that left no trace, also one that was confirmed before', async () => {
  const { add, round } = world();
  add('a', 'confirmed', null);
  expect(await round()).toContain('send');
});

const REBUILT = {};

/** A charge whose transactions have the given status, each with the last block it is valid at. */
function stuck(
  transactions: { status: Partial<SignatureStatus> | null; lastValid: bigint }[],
  {
    state = 'signed',
    simulated = null,
    isUndelivered = false,
    wasConfirmed = false,
    hasEnded = false,
    rebuilt,
    finalizedHeight = 100n,
  }: {
    state?: ChargeRow['state'];
    simulated?: object | null;
    isUndelivered?: boolean;
    wasConfirmed?: boolean;
    hasEnded?: boolean;
    /** A simulation's answer once the protocol account was read again and had changed. */
    rebuilt?: object | null;
    finalizedHeight?: bigint;
  } = {},
) {
  const done: string[] = [];
  const charge = {
    run_id: 'a',
    state,
    confirmed_at: wasConfirmed || state === 'confirmed' ? new Date() : null,
    balance_address: Keypair.generate().publicKey.toBase58(),
  } as ChargeRow;
  const reconciler = createReconciler({
    chain: {
      blockHeight: async () => finalizedHeight,
      statuses: async () => transactions.map(({ status }) => status as SignatureStatus | null),
      send: async () => void done.push('send'),
      simulate: async (message: object) => ({
        error: (message === REBUILT ? rebuilt : simulated) as never,
        logs: [],
      }),
    },
    charges: {
      takeDue: async () => [
        {
          charge,
          signatures: transactions.map(({ lastValid }, index) => ({
            signature: `s${index}`,
            signedBytes: Buffer.alloc(0),
            lastValidBlockHeight: lastValid,
          })),
        },
      ],
    } as unknown as ChargeRepository,
    states: {
      releaseAbandoned: async () => undefined,
      creditUndelivered: async () => undefined,
      sign: async () => {
        done.push('record');
        return hasEnded ? ['a'] : [];
      },
      end: async (_: string, failureCode: number | undefined) => {
        const to = charge.confirmed_at === null ? 'failed' : 'lost';
        done.push(failureCode === undefined ? `is ${to}` : `is ${to} by ${failureCode}`);
        return to;
      },
    } as unknown as ChargeStates,
    credits: { give: async () => false, giveBackUndelivered: async () => undefined },
    signer: {
      message: async () => ({}) as never,
      rebuilt: async () => (rebuilt === undefined ? undefined : (REBUILT as never)),
      sign: async () => {
        done.push('sign');
        return { signature: 'new', signedBytes: Buffer.alloc(0), lastValidBlockHeight: 200n };
      },
      countThatFit: async () => 1,
    },
    indexer: { indexAccounts: async () => undefined },
    runs: {
      paid: async () => false,
      unpaid: async () => void done.push('unpaid'),
      settled: async () => void done.push('settled'),
      wasUndelivered: async () => isUndelivered,
    },
    logger: pino({ level: 'silent' }),
  });
  return async () => {
    await reconciler.reconcile();
    return done;
  };
}

const refused = (code: number) => ({ err: { InstructionError: [1, { Custom: code }] } as never });

describe('a charge none of whose transactions can land any more', () => {
  const expired = { status: null, lastValid: 99n };
  const failed = { status: { ...refused(6003), confirmationStatus: 'finalized' as const }, lastValid: 99n };

  it('has failed when one of them did, and is not signed for ever [MON-7]', async () => {
    expect(await stuck([expired, failed])()).toEqual(['unpaid', 'is failed by 6003', 'settled']);
    expect(await stuck([failed, expired])()).toEqual(['unpaid', 'is failed by 6003', 'settled']);
  });

  it('is signed anew when none left a trace and the program would take it', async () => {
    expect(await stuck([expired])()).toEqual(['sign', 'record', 'send']);
  });

  it('has failed when the program would refuse it: no fee is paid to learn that', async () => {
    const simulated = { InstructionError: [1, { Custom: 6101 }] };
    expect(await stuck([expired], { simulated })()).toEqual(['unpaid', 'is failed by 6101', 'settled']);
  });

  it('is not given up for a sequence that is used: the transaction that used it may be found later', async () => {
    const simulated = { InstructionError: [1, { Custom: 6100 }] };
    expect(await stuck([expired], { simulated })()).toEqual([]);
  });

  it('is lost when it was confirmed once, and its output has left', async () => {
    const simulated = { InstructionError: [1, { Custom: 6003 }] };
    const round = stuck([expired], { simulated, state: 'confirmed' });
    expect(await round()).toEqual(['unpaid', 'is lost by 6003', 'settled']);
  });

  it('is not signed anew for a run that was not delivered', async () => {
    expect(await stuck([expired], { isUndelivered: true })()).toEqual(['unpaid', 'is failed', 'settled']);
  });

  it('is signed again for such a run where it was confirmed once: it has a credit', async () => {
    const round = stuck([expired], { isUndelivered: true, wasConfirmed: true });
    expect(await round()).toEqual(['sign', 'record', 'send']);
  });

  it('is not sent when it has ended meanwhile', async () => {
    expect(await stuck([expired], { hasEnded: true })()).toEqual(['sign', 'record']);
  });

  it('is built anew when the program refuses it, since the treasury may have changed', async () => {
    const simulated = { InstructionError: [1, { Custom: 2001 }] };
    expect(await stuck([expired], { simulated, rebuilt: null })()).toEqual(['sign', 'record', 'send']);
  });

  it('is not given up for a fault of the service itself, such as an authority that is not accepted', async () => {
    for (const code of [2001, 2005, 3011, 6004]) {
      const simulated = { InstructionError: [1, { Custom: code }] };
      expect(await stuck([expired], { simulated, state: 'confirmed' })()).toEqual([]);
    }
  });

  it('is given up after many transactions', async () => {
    expect(await stuck(Array.from({ length: 12 }, () => expired))()).toEqual([
      'unpaid',
      'is failed',
      'settled',
    ]);
  });
});

describe('a charge of which a transaction may still land', () => {
  it('is not signed anew, and every one that was not seen is sent again while it is valid', async () => {
    const open = { status: null, lastValid: 100n };
    const failedOnAFork = {
      status: { ...refused(6003), confirmationStatus: 'confirmed' as const },
      lastValid: 99n,
    };
    expect(await stuck([open, open])()).toEqual(['send', 'send']);
    expect(await stuck([{ status: null, lastValid: 99n }, failedOnAFork])()).toEqual([]);
  });
});

describe('rounds', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('follow one another, however long one takes, and a stop waits for the last', async () => {
    let started = 0;
    let end: () => void = () => undefined;
    const slow = createReconciler({
      states: {
        releaseAbandoned: () =>
          new Promise<void>((resolve) => {
            started += 1;
            end = resolve;
          }),
        creditUndelivered: async () => undefined,
      } as unknown as ChargeStates,
      credits: { giveBackUndelivered: async () => undefined },
      charges: { takeDue: async () => [] } as unknown as ChargeRepository,
    } as never);
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
    const full = Array.from({ length: 1_000 }, (_, index): OpenCharge => ({
      charge: { run_id: `${index}`, state: 'signed', confirmed_at: null } as ChargeRow,
      signatures: [],
    }));
    let left = 25;
    let taken = 0;
    const backlog = createReconciler({
      states: {
        releaseAbandoned: async () => undefined,
        creditUndelivered: async () => undefined,
        end: async () => undefined,
      } as unknown as ChargeStates,
      credits: { giveBackUndelivered: async () => undefined },
      chain: { blockHeight: async () => 1n },
      charges: {
        takeDue: async () => {
          await setImmediate();
          taken += 1;
          left -= 1;
          return left >= 0 ? full : [];
        },
      } as unknown as ChargeRepository,
      runs: {
        unpaid: async () => undefined,
        settled: async () => undefined,
        // So each charge, which has no transaction, ends.
        wasUndelivered: async () => true,
      },
      logger: pino({ level: 'silent' }),
    } as never);
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
