import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { broadcast } from './broadcast.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => undefined);

describe('a broadcast', () => {
  it('sends at once, and again a second after each answer, also after a failure', async () => {
    const send = vi
      .fn<() => Promise<unknown>>()
      .mockRejectedValueOnce(new Error('busy'))
      .mockResolvedValue('sent');
    const { started, stop } = broadcast(send);
    await started;
    expect(send).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(send).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(send).toHaveBeenCalledTimes(5);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(send).toHaveBeenCalledTimes(5);
  });

  it('waits for an answer that is late, and not for one that is lost', async () => {
    const send = vi.fn(never);
    const { started, stop } = broadcast(send);
    const hasBegun = vi.fn();
    void started.then(hasBegun);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(send).toHaveBeenCalledTimes(1);
    expect(hasBegun).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(hasBegun).toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(send).toHaveBeenCalledTimes(2);
    stop();
  });

  it('leaves no timer once it is stopped', async () => {
    const { started, stop } = broadcast(() => Promise.resolve());
    await started;
    stop();
    const late = broadcast(never);
    late.stop();
    await late.started;
    expect(vi.getTimerCount()).toBe(0);
  });
});
