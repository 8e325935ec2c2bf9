import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { SlotRepository, SlotRequest } from './slot-repository.js';
import { createSlots } from './slots.js';

/** Slots whose repository fails at every call: the database must not be asked. */
const open = () =>
  createSlots({
    repository: new Proxy({} as SlotRepository, {
      get: (_target, name) => {
        throw new Error(`${String(name)} was asked of the database`);
      },
    }),
    changes: { announce: async () => undefined, watch: () => expect.unreachable() },
    logger: pino({ level: 'silent' }),
    queue: { maxLength: 4, maxWaitMs: 30_000 },
  });
const request = (runId: number, wallet: string): SlotRequest => ({
  runId: `run-${runId}`,
  listingId: 'listing',
  wallet,
  isPriority: false,
});
const stays = new AbortController().signal;

it('a run beyond slots and queue is refused from memory, and callers that come back at once are kept a moment [OPS-52]', async () => {
  const slots = open();
  for (let run = 0; run < 24; run += 1) slots.countDemand(request(run, `wallet-${run}`));
  const next = { listingId: 'listing', wallet: 'another' };
  const startedAt = performance.now();
  await expect(slots.requireRoom(next, stays)).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    retryAfterSeconds: 15,
  });
  expect(performance.now() - startedAt).toBeGreaterThan(200);
  await slots.requireRoom({ listingId: 'another', wallet: 'another' }, stays);
});

it('a run for which there is room after that moment is not refused', async () => {
  const slots = open();
  const leaves = Array.from({ length: 24 }, (_, run) => slots.countDemand(request(run, `wallet-${run}`)));
  const waited = slots.requireRoom({ listingId: 'listing', wallet: 'another' }, stays);
  leaves[0]?.();
  await waited;
});

it('a caller that leaves in that moment is not kept', async () => {
  const slots = open();
  for (let run = 0; run < 24; run += 1) slots.countDemand(request(run, `wallet-${run}`));
  const leaving = new AbortController();
  const refused = slots.requireRoom({ listingId: 'listing', wallet: 'another' }, leaving.signal);
  const startedAt = performance.now();
  leaving.abort(new Error('gone'));
  await expect(refused).rejects.toThrow('gone');
  expect(performance.now() - startedAt).toBeLessThan(200);
});
