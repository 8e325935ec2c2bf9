import { describe, expect, it } from 'vitest';
import { RunningCalls } from './running-calls.js';

const address = { callerId: 'wallet', sessionId: 'session', requestId: 7 };

describe('RunningCalls', () => {
  it('cancels only the addressed call', () => {
    const calls = new RunningCalls();
    const { signal } = calls.begin(address, 'run');
    const others = [{ callerId: 'other' }, { sessionId: 'other' }, { requestId: 8 }, { requestId: '7' }];
    for (const change of others) calls.cancel({ ...address, ...change });
    expect(signal.aborted).toBe(false);
    calls.cancel(address);
    expect(signal.aborted).toBe(true);
  });

  it('cancels a call with its resumption, and none of two calls with one id', () => {
    const calls = new RunningCalls();
    const first = calls.begin(address, 'run');
    const resumed = calls.begin(address, 'run');
    const other = calls.begin(address, 'another run');
    calls.cancel(address);
    expect([first, resumed, other].map(({ signal }) => signal.aborted)).toEqual([false, false, false]);
    other.release();
    calls.cancel(address);
    expect([first, resumed, other].map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
    for (const { release } of [first, resumed]) release();
    expect(calls.size).toBe(0);
  });

  it('aborts all when the server goes', () => {
    const calls = new RunningCalls();
    const signals = [1, 2].map((requestId) => calls.begin({ ...address, requestId }, 'run').signal);
    calls.cancelAll();
    expect(signals.every((signal) => signal.aborted)).toBe(true);
  });
});
