import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createDeadline } from '@agent-rental/contract';
import { createDrain } from '../../platform/drain.js';
import { newWallet } from '../../testing/index.js';
import { takeSlot } from '../pipeline/slot.js';
import type { Task } from '../task.js';
import { RunStoppedError } from '../live/run-stopped.js';
import { QueueModel } from './queue-model.test-support.js';
import { BOUNDS, inQueue, never, openReplicas } from './slots.test-support.js';

const { database, here, replicaOf, newListing } = await openReplicas(4);

/** Whether a run is in the queue, or has been let in. */
async function hasEntered(runId: string): Promise<boolean> {
  const rowsIn = (table: 'seats' | 'seat_line') =>
    database.db.selectFrom(table).select('run_id').where('run_id', '=', runId).execute();
  return (await rowsIn('seat_line')).length + (await rowsIn('seats')).length > 0;
}

describe('the queue for a slot', () => {
  it('is told at once, on every replica, when it is its turn [EXE-28]', async () => {
    const listing = await newListing();
    const seated = await listing.fill();
    const there = replicaOf(1);
    // Looking by itself, every five seconds, would take longer than this test may.
    for (const runId of seated.slice(0, 10)) {
      let onWait: () => void = () => undefined;
      const waits = new Promise<void>((resolve) => (onWait = resolve));
      const waiting = there.slotsWith({}, undefined, onWait).take(await listing.request(), never);
      await waits;
      await here.slots.free(runId);
      await waiting;
    }
    expect(await listing.count('seats')).toBe(20);
  });

  it('lets `priority` in before `standard`, and of each one wallet after the other [EXE-28]', async () => {
    const listing = await newListing();
    const seated = await listing.fill();
    const [alice, bob, carol] = [newWallet(), newWallet(), newWallet()];
    const order: string[] = [];
    const waits: Promise<unknown>[] = [];
    for (const [name, wallet, isPriority] of [
      ['alice 1', alice, false],
      ['alice 2', alice, false],
      ['alice 3', alice, false],
      ['bob 1', bob, false],
      ['bob 2', bob, false],
      ['alice first', alice, true],
      ['carol 1', carol, false],
      ['carol first', carol, true],
    ] as const) {
      const replica = replicaOf(waits.length);
      waits.push(
        replica.slots.take(await listing.request(wallet, isPriority), never).then(() => order.push(name)),
      );
      await inQueue(listing, waits.length);
    }
    for (const runId of seated.slice(0, waits.length)) {
      const before = order.length;
      await here.slots.free(runId);
      await vi.waitUntil(() => order.length > before, { interval: 2, timeout: 15_000 });
    }
    expect(order).toEqual([
      'alice first',
      'carol first',
      // The only one without a slot.
      'bob 1',
      'alice 1',
      'carol 1',
      'bob 2',
      'alice 2',
      'alice 3',
    ]);
  });

  it(
    'is round-robin in shares whatever comes, leaves and ends, in any order [EXE-28]',
    { timeout: 90_000 },
    async () => {
      const bounds = { ...BOUNDS, slots: 5 };
      const wallets = Array.from({ length: 4 }, newWallet);
      const step = fc.oneof(
        {
          weight: 5,
          arbitrary: fc.record({ do: fc.constant('come' as const), wallet: fc.nat(3), first: fc.boolean() }),
        },
        { weight: 3, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(4) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(100) }) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }), async (steps) => {
          const listing = await newListing();
          const model = new QueueModel(bounds.slots);
          const happened: unknown[] = [];
          const expected: unknown[] = [];
          for (const each of steps) {
            if (each.do === 'come') {
              const request = await listing.request(wallets[each.wallet], each.first);
              happened.push(await here.repository.enter(request, bounds));
              expected.push(model.come(request));
            } else {
              const from = each.do === 'end' ? model.seated() : model.waiting();
              const runId = from[each.which % Math.max(1, from.length)];
              if (runId === undefined) continue;
              await here.repository.leave(runId);
              model.leave(runId);
            }
            // Each run that enters or leaves hands out free slots: no run stays in the queue beside a free slot.
            happened.push(await here.repository.handOut(listing.id, bounds));
            expected.push(model.handOut());
          }
          expect(happened).toEqual(expected);
        }),
        { numRuns: 10, seed: 6 },
      );
    },
  );

  it(
    'never lets more than twenty in, and everybody in the end, on four replicas [EXE-27, EXE-28]',
    { timeout: 90_000 },
    async () => {
      const listing = await newListing();
      const wallets = Array.from({ length: 6 }, newWallet);
      let inside = 0;
      let most = 0;
      let served = 0;
      const requests = await Promise.all(
        Array.from({ length: 160 }, (_, index) => listing.request(wallets[index % 6], index % 5 === 0)),
      );
      const ends = await Promise.allSettled(
        requests.map(async (request, index) => {
          const { slots, slotsWith } = replicaOf(index);
          const leaving = new AbortController();
          // Every seventh gives up while it waits.
          if (index % 7 === 0) {
            // One that has been let in and is gone before it is seen needs not leave.
            void vi
              .waitUntil(() => hasEntered(request.runId), { timeout: 20_000, interval: 5 })
              .then(
                () => leaving.abort(new Error('left')),
                () => undefined,
              );
          }
          await slotsWith({ maxLength: 1000 }).take(request, leaving.signal);
          inside += 1;
          most = Math.max(most, inside);
          served += 1;
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
          await slots.free(request.runId);
        }),
      );
      expect(most).toBeLessThanOrEqual(20);
      const unexpected = ends.filter((end) => end.status === 'rejected' && end.reason.message !== 'left');
      expect(unexpected).toEqual([]);
      expect(served).toBeGreaterThanOrEqual(160 - Math.ceil(160 / 7));
      expect([await listing.count('seats'), await listing.count('seat_line')]).toEqual([0, 0]);
    },
  );

  it('is bounded: full, or half full of one wallet, refuses [EXE-28]', async () => {
    const listing = await newListing();
    await listing.fill();
    const slots = here.slotsWith({ maxLength: 4 });
    const [greedy, other] = [newWallet(), newWallet()];
    const leave = new AbortController();
    const waits: Promise<unknown>[] = [];
    const come = async (wallet: string) => {
      const wait = slots.take(await listing.request(wallet), leave.signal);
      waits.push(wait.catch(() => undefined));
      await inQueue(listing, waits.length);
    };
    const refused = async (wallet: string) =>
      expect(slots.take(await listing.request(wallet), never)).rejects.toMatchObject({
        code: 'rate_limit_exceeded',
        retryAfterSeconds: 30,
      });
    await come(greedy);
    await come(greedy);
    await refused(greedy);
    await come(other);
    await come(newWallet());
    await refused(newWallet());
    expect(await listing.count('seat_line')).toBe(4);
    leave.abort();
    await Promise.all(waits);
  });

  it('refuses who has waited too long, and leaves no place behind [EXE-28]', async () => {
    const listing = await newListing();
    await listing.fill();
    const waiting = here.slotsWith({ maxWaitMs: 50 }).take(await listing.request(), never);
    await expect(waiting).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 1 });
    expect(await listing.count('seat_line')).toBe(0);
  });

  it.each([
    ['is stopped', (run: string) => new RunStoppedError('caller_left', run), 'invalid_request'],
    ['waits when the server begins to drain', undefined, 'service_unavailable'],
  ] as const)('is left at once by a run that %s [EXE-28]', async (_, reason, code) => {
    const listing = await newListing();
    await listing.fill();
    const request = await listing.request();
    const stop = new AbortController();
    const drain = createDrain();
    const waiting = here.slots.take(request, createDeadline(undefined, stop.signal, drain.started).signal);
    await inQueue(listing, 1);
    if (reason) stop.abort(reason(request.runId));
    else void drain.drain(0);
    await expect(waiting).rejects.toMatchObject({ code });
    expect(await listing.count('seat_line')).toBe(0);
    expect(await listing.count('seats')).toBe(20);
  });

  it('is not needed by a run that was recorded with a slot, also while the server drains [OPS-4]', async () => {
    const listing = await newListing();
    const request = await listing.request();
    const entered = await here.repository.enter(request, BOUNDS);
    const drain = createDrain();
    void drain.drain(0);
    const runs = { isKeyCancelled: async () => false, requestStop: async () => false };
    const task = { ...request, listing } as unknown as Task;
    await takeSlot({ slots: here.slots, runs, drain, stepTimes: () => undefined }, task, never, entered);
    expect(await listing.count('seats')).toBe(1);
  });

  it('passes over runs of a dead replica, after a moment', async () => {
    const listing = await newListing();
    const seated = await listing.fill();
    // Long enough for both to be in the queue at the same time on a busy machine.
    const bounds = { ...BOUNDS, claimMs: 3_000 };
    // The slot is neither claimed nor renewed, as after a kill.
    const dead = await listing.request();
    expect(await here.repository.enter(dead, bounds)).toBe('waiting');
    const alive = await listing.request();
    const waiting = here.slotsWith({}, 200).take(alive, never);
    await inQueue(listing, 2);
    await here.repository.handOut(listing.id, bounds);
    await here.repository.leave(seated[0] ?? '');
    await here.repository.handOut(listing.id, bounds);
    await waiting;
    expect(await here.repository.keep(dead.runId, bounds)).toBe('gone');
  });
});
