import { describe, expect, test } from 'vitest';
import { createFinality } from './finality.js';

/** A cluster, its clock, and the number of times that it was asked. */
function clusterOf(answer: { moved: boolean | Error }) {
  const state = { ...answer, nowMs: 0, asked: 0 };
  const hasFastFinality = async () => {
    state.asked += 1;
    if (state.moved instanceof Error) throw state.moved;
    return state.moved;
  };
  const finality = createFinality(
    (call) => call({ rpc: { hasFastFinality } as never }),
    () => state.nowMs,
  );
  return { state, finality };
}

const statusAt = (confirmationStatus: 'processed' | 'confirmed' | 'finalized') => ({
  slot: 1,
  confirmations: 0,
  err: null,
  confirmationStatus,
});

describe('the level at which the service decides', () => {
  test('is `finalized` on a cluster with fast finality, which is asked once', async () => {
    const { state, finality } = clusterOf({ moved: true });
    expect(await Promise.all([finality.level(), finality.level()])).toEqual(['finalized', 'finalized']);
    state.nowMs = 3_600_000;
    expect(await finality.level()).toBe('finalized');
    expect(state.asked).toBe(1);
  });

  test('is `confirmed` before, and follows a cluster that moves', async () => {
    const { state, finality } = clusterOf({ moved: false });
    expect(await finality.level()).toBe('confirmed');
    state.moved = true;
    state.nowMs = 30_000;
    expect(await finality.level()).toBe('confirmed');
    expect(state.asked).toBe(1);
    state.nowMs = 30_001;
    // This call does not wait for the answer.
    expect(await finality.level()).toBe('confirmed');
    await expect.poll(() => finality.level()).toBe('finalized');
    expect(state.asked).toBe(2);
  });

  test('is `confirmed` while no endpoint answers, and is asked for again at the next call', async () => {
    const { state, finality } = clusterOf({ moved: new Error('down') });
    expect(await finality.level()).toBe('confirmed');
    state.moved = true;
    expect(await finality.level()).toBe('finalized');
  });
});

describe('the status of a transaction', () => {
  test('stays `processed` until it is `finalized` where finality is fast', async () => {
    const { finality } = clusterOf({ moved: true });
    expect(finality.judge(statusAt('confirmed'))).toEqual(statusAt('confirmed'));
    await finality.level();
    expect(finality.judge(statusAt('confirmed'))).toEqual(statusAt('processed'));
    expect(finality.judge(statusAt('finalized'))).toEqual(statusAt('finalized'));
    expect(finality.judge(null)).toBeNull();
  });
});
