import { expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { createDrain } from './drain.js';

it('ends as soon as the last work that was let in has left', async () => {
  const drain = createDrain();
  const [leaveFirst, leaveSecond] = [drain.enter(), drain.enter()];
  let ended = false;
  const draining = drain.drain(60_000).then(() => (ended = true));
  leaveFirst();
  // Leaving twice counts once.
  leaveFirst();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  leaveSecond();
  await draining;
  expect(drain.timeUp.aborted).toBe(false);
});

it('lets nothing new in, and says when to come again [OPS-4]', () => {
  const drain = createDrain();
  drain.enter();
  expect(drain.draining).toBe(false);
  void drain.drain(60_000);
  expect(drain.draining).toBe(true);
  const error = (() => {
    try {
      drain.enter();
    } catch (thrown) {
      return thrown;
    }
    return undefined;
  })();
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 5 });
});

it('tells work that is still there when the time is up to hand over, and waits for that', async () => {
  const drain = createDrain();
  const leave = drain.enter();
  drain.timeUp.addEventListener('abort', leave);
  await drain.drain(1);
  expect(drain.timeUp.reason).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 5 });
});
