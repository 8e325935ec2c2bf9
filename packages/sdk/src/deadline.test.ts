import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createDeadline } from './deadline.js';

test('a deadline aborts at its time although garbage is collected', async () => {
  setFlagsFromString('--expose-gc');
  const timer = setInterval(runInNewContext('gc') as () => void, 10);
  const other = new AbortController();
  try {
    const reasons = await Promise.all(
      Array.from({ length: 50 }, () => {
        const { signal } = createDeadline(50, other.signal);
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
      }),
    );
    for (const reason of reasons) expect(reason).toMatchObject({ name: 'TimeoutError' });
  } finally {
    clearInterval(timer);
  }
});

test('a deadline aborts with its signals, and is detached from them when cleared', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const deadline = createDeadline(undefined, undefined, first.signal);
  first.abort('enough');
  expect(deadline.signal.reason).toBe('enough');
  expect(deadline.isOver).toBe(false);
  createDeadline(60_000, second.signal).clear();
  expect(getEventListeners(second.signal, 'abort')).toHaveLength(0);
  expect(createDeadline(60_000, AbortSignal.abort('before')).signal.reason).toBe('before');
});
