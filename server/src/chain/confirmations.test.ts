import type { SignatureStatus } from '@solana/web3.js';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createConfirmations } from './confirmations.js';

const CONFIRMED = { err: null, confirmationStatus: 'confirmed' } as SignatureStatus;
const never = new AbortController().signal;

let known: Map<string, SignatureStatus>;
let height: number;
let asked: string[][];
/** Called before each answer. */
let onAsked: () => void | Promise<void>;
let wait: ReturnType<typeof createConfirmations>;
beforeEach(() => {
  known = new Map();
  height = 1;
  asked = [];
  onAsked = () => undefined;
  wait = createConfirmations(
    {
      statuses: async (signatures) => {
        asked.push(signatures);
        await onAsked();
        return signatures.map((signature) => known.get(signature) ?? null);
      },
      blockHeight: async () => height,
    },
    5,
  );
});

describe('transactions that are waited for', () => {
  it('together are asked about together, until each is known', async () => {
    known.set('a', CONFIRMED);
    const [a, b] = [wait('a', 100, never), wait('b', 100, never)];
    expect(await a).toBe(CONFIRMED);
    await vi.waitUntil(() => asked.length > 3, { timeout: 15_000 });
    known.set('b', CONFIRMED);
    expect(await b).toBe(CONFIRMED);
    expect(asked[0]).toEqual(['a', 'b']);
    for (const later of asked.slice(1)) expect(later).toEqual(['b']);
  });

  it('while others are asked about come next, and wait for no poll', async () => {
    wait = createConfirmations(
      {
        statuses: async (signatures) => {
          asked.push(signatures);
          await onAsked();
          return signatures.map((signature) => known.get(signature) ?? null);
        },
        blockHeight: async () => height,
      },
      600_000,
    );
    known.set('b', CONFIRMED);
    let second: Promise<unknown> | undefined;
    onAsked = () => void (second ??= wait('b', 100, never));
    const first = wait('a', 100, never);
    await vi.waitUntil(() => second !== undefined, { timeout: 15_000 });
    expect(await second).toBe(CONFIRMED);
    known.set('a', CONFIRMED);
    expect(await wait('c', 0, never)).toBeNull();
    expect(await first).toBe(CONFIRMED);
  });

  it('and failed, or have outlived their blockhash, are told apart', async () => {
    const failed = { err: { InstructionError: [0, 'x'] }, confirmationStatus: 'processed' } as never;
    known.set('failed', failed);
    expect(await wait('failed', 100, never)).toBe(failed);
    height = 101;
    expect(await wait('lost', 100, never)).toBeNull();
    expect(await wait('landed late', 101, AbortSignal.abort())).toBeNull();
  });

  it('are given up with their signal, and asked about no more', async () => {
    const controller = new AbortController();
    const waiting = wait('a', 100, controller.signal);
    await vi.waitUntil(() => asked.length > 0, { timeout: 15_000 });
    controller.abort();
    expect(await waiting).toBeNull();
    const before = asked.length;
    expect(await wait('b', 0, never)).toBeNull();
    expect(asked.slice(before)).toEqual([['b']]);
  });

  it('are asked about again when a poll fails, and none of them hears of the failure', async () => {
    let failures = 3;
    onAsked = () => (failures-- > 0 ? Promise.reject(new Error('no chain')) : undefined);
    known.set('a', CONFIRMED);
    const both = [wait('a', 100, never), wait('b', 100, never)];
    await vi.waitUntil(() => asked.length > 4, { timeout: 15_000 });
    known.set('b', CONFIRMED);
    expect(await Promise.all(both)).toEqual([CONFIRMED, CONFIRMED]);
  });

  it('keep the result of one poll when the next question fails', async () => {
    known.set('a', CONFIRMED);
    let heights = 0;
    wait = createConfirmations(
      {
        statuses: async (signatures) => signatures.map((signature) => known.get(signature) ?? null),
        blockHeight: async () => {
          heights += 1;
          if (heights < 3) throw new Error('no chain');
          return 101;
        },
      },
      5,
    );
    const [settled, expired] = [wait('a', 100, never), wait('b', 100, never)];
    expect(await settled).toBe(CONFIRMED);
    expect(await expired).toBeNull();
  });

  it('end with their signal while a poll hangs', async () => {
    onAsked = () => new Promise(() => undefined);
    const controller = new AbortController();
    const waiting = wait('a', 100, controller.signal);
    await vi.waitUntil(() => asked.length > 0, { timeout: 15_000 });
    controller.abort();
    expect(await waiting).toBeNull();
  });

  it('are as many calls as an RPC takes', async () => {
    const all = Array.from({ length: 300 }, (_, index) => `s${index}`);
    for (const signature of all) known.set(signature, CONFIRMED);
    await Promise.all(all.map((signature) => wait(signature, 100, never)));
    expect(asked.map(({ length }) => length)).toEqual([256, 44]);
  });
});
