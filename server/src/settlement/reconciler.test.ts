import { Keypair, type SignatureStatus } from '@solana/web3.js';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Chain } from '../chain/index.js';
import type { ChargeRepository, ChargeRow } from './charge-repository.js';
import { createReconciler } from './reconciler.js';

type Standing = 'confirmed' | 'finalized' | null;

/** Charges in memory, each with one transaction that stands on the chain as the test says. */
function world() {
  const charges = new Map<string, ChargeRow>();
  const standing = new Map<string, Standing>();
  const done: string[] = [];
  const reconciler = createReconciler({
    chain: {
      blockHeight: async () => 1n,
      statuses: async (signatures: string[]) =>
        signatures.map((signature) => {
          const confirmationStatus = standing.get(signature);
          return confirmationStatus ? ({ err: null, confirmationStatus } as SignatureStatus) : null;
        }),
      send: async () => void done.push('send'),
    } as unknown as Chain,
    charges: {
      releaseAbandoned: async () => undefined,
      makeGood: async () => undefined,
      open: async () =>
        [...charges.values()]
          .filter(({ state }) => state === 'signed' || state === 'confirmed')
          .map((charge) => ({
            charge: { ...charge },
            signatures: [{ signature: charge.run_id, wire: Buffer.alloc(0), lastValidBlockHeight: 9n }],
          })),
      move: async (runId: string, from: string[], to: ChargeRow['state']) => {
        const charge = charges.get(runId);
        if (!charge || !from.includes(charge.state)) return false;
        done.push(`${runId} is ${to}`);
        charge.state = to;
        return true;
      },
    } as unknown as ChargeRepository,
    signer: {} as never,
    indexer: { indexAccounts: async (keys: unknown[]) => void done.push(`index ${keys.length}`) } as never,
    onPaid: async (runId) => {
      done.push(`paid ${runId}`);
      return false;
    },
    onUnpaid: async () => undefined,
    logger: pino({ level: 'silent' }),
  });
  const address = Keypair.generate().publicKey.toBase58();
  return {
    add: (runId: string, state: ChargeRow['state'], stands: Standing) => {
      charges.set(runId, { run_id: runId, state, balance_address: address } as ChargeRow);
      standing.set(runId, stands);
    },
    becomes: (runId: string, stands: Standing) => standing.set(runId, stands),
    /** What one round does. */
    round: async () => {
      done.length = 0;
      await reconciler.reconcile();
      return [...done];
    },
  };
}

it('indexes what is paid once for all charges of a balance, before any of them is final', async () => {
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

describe('rounds', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('follow one another, however long one takes, and a stop waits for the last', async () => {
    let begun = 0;
    let end: () => void = () => undefined;
    const slow = createReconciler({
      charges: {
        releaseAbandoned: () =>
          new Promise<void>((resolve) => {
            begun += 1;
            end = resolve;
          }),
        makeGood: async () => undefined,
        open: async () => [],
      } as unknown as ChargeRepository,
    } as never);
    const { stop } = slow.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun).toBe(1);
    end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun).toBe(2);
    let isStopped = false;
    const stopped = stop().then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isStopped).toBe(false);
    end();
    await stopped;
    expect(begun).toBe(2);
  });
});
