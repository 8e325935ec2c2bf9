import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createDeadline } from './deadline.js';

/** Resolves with the reason of a signal when it aborts. */
const reasonOf = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

describe('a deadline', () => {
  it('aborts at its time although garbage is collected, and nothing else holds it [EXE-47]', async () => {
    const other = new AbortController();
    setFlagsFromString('--expose-gc');
    const collecting = setInterval(runInNewContext('gc') as () => void, 10);
    const reasons = await Promise.all(
      Array.from({ length: 50 }, () => reasonOf(createDeadline(50, other.signal).signal)),
    ).finally(() => clearInterval(collecting));
    expect(reasons).toHaveLength(50);
    for (const reason of reasons) expect(reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('aborts with the first of its signals, for that reason', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const deadline = createDeadline(60_000, first.signal, second.signal);
    second.abort('second');
    first.abort('first');
    expect(deadline.signal.reason).toBe('second');
    expect(deadline.isOver).toBe(false);
  });

  it('of a signal that has aborted begins aborted', () => {
    const deadline = createDeadline(60_000, AbortSignal.abort('before'));
    expect(deadline.signal.reason).toBe('before');
    expect(deadline.isOver).toBe(false);
  });

  it('tells that its time ran out', async () => {
    const deadline = createDeadline(1);
    await reasonOf(deadline.signal);
    expect(deadline.isOver).toBe(true);
  });

  it('leaves no timer and no listener when cleared', async () => {
    const other = new AbortController();
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const deadline = createDeadline(60_000, other.signal);
    expect(getEventListeners(other.signal, 'abort')).toHaveLength(1);
    expect(timers()).toBe(before + 1);
    deadline.clear();
    expect(getEventListeners(other.signal, 'abort')).toHaveLength(0);
    expect(timers()).toBe(before);
    other.abort();
    expect(deadline.signal.aborted).toBe(false);
  });

  it('has no time limit where none is given', async () => {
    const other = new AbortController();
    const deadline = createDeadline(undefined, other.signal);
    expect(deadline.signal.aborted).toBe(false);
    other.abort('enough');
    expect(deadline.signal.reason).toBe('enough');
  });
});
