import { describe, expect, it } from 'vitest';
import { RunningCalls } from './running-calls.js';

const address = { callerId: 'wallet', sessionId: 'session', requestId: 7 };

describe('RunningCalls', () => {
  it('cancels only the addressed call', () => {
    const calls = new RunningCalls();
    const { signal } = calls.begin(address);
    const others = [{ callerId: 'other' }, { sessionId: 'other' }, { requestId: 8 }, { requestId: '7' }];
    for (const change of others) calls.cancel({ ...address, ...change });
    expect(signal.aborted).toBe(false);
    calls.cancel(address);
    expect(signal.aborted).toBe(true);
  });

  it('forgets an ended call, but not a later call with its id', () => {
    const calls = new RunningCalls();
    const first = calls.begin(address);
    const second = calls.begin(address);
    first.release();
    expect(calls.size).toBe(1);
    calls.cancel(address);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true]);
    second.release();
    expect(calls.size).toBe(0);
  });

  it('aborts all when the server goes', () => {
    const calls = new RunningCalls();
    const signals = [1, 2].map((requestId) => calls.begin({ ...address, requestId }).signal);
    calls.cancelAll();
    expect(signals.every((signal) => signal.aborted)).toBe(true);
  });
});
