import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { BOUNDS, inQueue, never, openReplicas } from './slots.test-support.js';

const { database, here, replicaOf, newListing } = await openReplicas(4);

describe('the slots of a listing', () => {
  it('are exactly twenty, for sixty who ask four replicas at once [EXE-27]', async () => {
    const listing = await newListing();
    const requests = await Promise.all(Array.from({ length: 60 }, () => listing.request()));
    const taken = await Promise.allSettled(
      requests.map((request, index) => replicaOf(index).slotsWith({ maxLength: 0 }).take(request, never)),
    );
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    for (const refused of taken.filter((result) => result.status === 'rejected')) {
      expect(refused.reason).toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 30 });
    }
    expect(await listing.count('seats')).toBe(20);
    expect(await listing.count('seat_line')).toBe(0);
  });

  it('of another listing are others', async () => {
    await (await newListing()).fill();
    const other = await newListing();
    await here.slotsWith({ maxLength: 0 }).take(await other.request(), never);
    expect(await other.count('seats')).toBe(1);
  });

  it('that is given up while another run asks for it is that one’s, or known to be waited for', async () => {
    const listing = await newListing();
    const there = replicaOf(1);
    let held = (await listing.fill())[0] as string;
    for (let round = 0; round < 100; round += 1) {
      const asking = await listing.request();
      const [left, entry] = await Promise.all([
        here.repository.leave(held),
        there.repository.enter(asking, BOUNDS),
      ]);
      expect(left).toBe(entry === 'waiting' ? listing.id : undefined);
      const seated = await here.repository.handOut(listing.id, BOUNDS);
      expect(seated).toEqual(entry === 'waiting' ? [asking.runId] : []);
      held = asking.runId;
    }
  });

  it('tell every replica that their run has changed when they are given up', async () => {
    const listing = await newListing();
    const run = await listing.request();
    await here.slots.take(run, never);
    const watch = replicaOf(1).changes.watch(run.runId);
    const announced = watch.next(60_000, never);
    await here.slots.free(run.runId);
    const before = performance.now();
    expect(await announced).toBe(true);
    // Without the announcement the wait takes 5 s.
    expect(performance.now() - before).toBeLessThan(3_000);
    watch.close();
  });

  it('stay taken for as long as their run works, and become free when they are not renewed', async () => {
    const listing = await newListing();
    const slots = here.slotsWith({}, 400);
    const kept = await listing.request();
    await slots.take(kept, never);
    const lapsing = await listing.request();
    const bounds = { slots: 20, queueLength: 0, ownLength: 0, leaseMs: 400, claimMs: 400 };
    expect(await here.repository.enter(lapsing, bounds)).toBe('seated');
    const alive = async () => {
      await here.repository.handOut(listing.id, bounds);
      const rows = await database.db.selectFrom('seats').select('run_id').execute();
      return new Set(rows.map((row) => row.run_id));
    };
    await vi.waitUntil(async () => !(await alive()).has(lapsing.runId), { timeout: 15_000 });
    // The one is renewed well after the other has lapsed; a lapsed lease does not come back.
    await here.repository.renew([lapsing.runId], bounds);
    expect(await alive()).toContain(kept.runId);
    expect(await alive()).not.toContain(lapsing.runId);
    await slots.free(kept.runId);
    expect(await listing.count('seats')).toBe(0);
  });

  it('keep no connection from others while their listing is busy elsewhere', async () => {
    const [listing, other] = [await newListing(), await newListing()];
    // More than the pool has connections.
    const requests = await Promise.all(Array.from({ length: 10 }, () => listing.request()));
    const quick = await other.request();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let busy: Promise<void> | undefined;
    await new Promise<void>((resolve) => {
      busy = database.db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${listing.id}, 0))`.execute(tx);
        resolve();
        await released;
      });
    });
    const entering = requests.map((request) => here.repository.enter(request, BOUNDS));
    const handingOut = Array.from({ length: 10 }, () => here.repository.handOut(listing.id, BOUNDS));
    expect(await here.repository.enter(quick, BOUNDS)).toBe('seated');
    release();
    await busy;
    expect(new Set(await Promise.all(entering))).toEqual(new Set(['seated']));
    expect((await Promise.all(handingOut)).flat()).toEqual([]);
  });

  it('are handed out once, to one of those who ask for it at the same time', async () => {
    const listing = await newListing();
    const [freed = ''] = await listing.fill();
    const next = await listing.request();
    expect(await here.repository.enter(next, BOUNDS)).toBe('waiting');
    await here.repository.leave(freed);
    const asked = Array.from({ length: 10 }, () => here.repository.handOut(listing.id, BOUNDS));
    expect((await Promise.all(asked)).flat()).toEqual([next.runId]);
  });

  it('and places are kept by runs that ask again: they got one while they asked', async () => {
    const listing = await newListing();
    const [freed = ''] = await listing.fill();
    const next = await listing.request();
    for (const again of [1, 2]) {
      expect(await here.repository.enter(next, BOUNDS), `${again}`).toBe('waiting');
    }
    await here.repository.leave(freed);
    expect(await here.repository.handOut(listing.id, BOUNDS)).toEqual([next.runId]);
    expect(await here.repository.enter(next, BOUNDS)).toBe('seated');
    expect([await listing.count('seats'), await listing.count('seat_line')]).toEqual([20, 0]);
  });

  it('of a replica that was killed go to those who wait on others [EXE-28]', async () => {
    const listing = await newListing();
    const requests = await Promise.all(Array.from({ length: 20 }, () => listing.request()));
    const program = fileURLToPath(
      new URL('../../../dist/runs/queue/slot-taker.test-support.js', import.meta.url),
    );
    const child = spawn(process.execPath, [program, database.url, JSON.stringify(requests)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(createInterface({ input: child.stdout }), 'line');
    const waiting = here.slotsWith({}, 2_000).take(await listing.request(), never);
    await inQueue(listing, 1);
    expect(await listing.count('seats')).toBe(20);
    child.kill('SIGKILL');
    await waiting;
    expect(await listing.count('seat_line')).toBe(0);
  });
});
