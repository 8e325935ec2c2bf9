import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { newWallet, openTestDatabase } from '../../testing/index.js';
import { BOUNDS, newListing as newListingOf, openReplica } from './slots.test-support.js';

const database = await openTestDatabase();
const here = await openReplica(database.url);
afterAll(async () => {
  await here.close();
  await database.close();
});

type Listing = Awaited<ReturnType<typeof newListingOf>>;
const newListing = () => newListingOf(database.db, here);

/** How many slots each of these wallets has. */
async function heldBy(listing: Listing, wallets: readonly string[]): Promise<number[]> {
  const rows = await database.db
    .selectFrom('seats')
    .innerJoin('runs', 'runs.id', 'seats.run_id')
    .select('runs.wallet')
    .where('seats.listing_id', '=', listing.id)
    .execute();
  return wallets.map((wallet) => rows.filter((row) => row.wallet === wallet).length);
}

/** Comes in with so many runs, as the pipeline does; gives them. */
async function come(listing: Listing, wallet: string, count: number, isPriority = false): Promise<string[]> {
  const runs: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const request = await listing.request(wallet, isPriority);
    await here.repository.enter(request, BOUNDS);
    await here.repository.handOut(listing.id, BOUNDS);
    runs.push(request.runId);
  }
  return runs;
}

async function end(listing: Listing, runId: string): Promise<void> {
  if ((await here.repository.leave(runId)) !== undefined) await here.repository.handOut(listing.id, BOUNDS);
}

describe('the slots of a listing that several wallets want', () => {
  it('are all for a wallet that is alone, and half of them once another one comes [EXE-28]', async () => {
    const listing = await newListing();
    const [greedy, other] = [newWallet(), newWallet()];
    const runs = await come(listing, greedy, 30);
    expect(await heldBy(listing, [greedy])).toEqual([20]);
    await come(listing, other, 30);
    for (const run of runs.slice(0, 10)) await end(listing, run);
    expect(await heldBy(listing, [greedy, other])).toEqual([10, 10]);
  });

  it('are half for a wallet that never pauses, whatever priority it asks for, so that others begin at once [EXE-28]', async () => {
    const listing = await newListing();
    const [greedy, other] = [newWallet(), newWallet()];
    const [first = ''] = await come(listing, other, 1);
    await come(listing, greedy, 40, true);
    expect(await heldBy(listing, [greedy, other])).toEqual([10, 1]);
    // No run has ended: there was room for new ones.
    const request = await listing.request(newWallet());
    expect(await here.repository.enter(request, BOUNDS)).toBe('seated');
    // Alone again, it may have all: it is let in by the last one that leaves.
    await end(listing, first);
    await end(listing, request.runId);
    expect(await heldBy(listing, [greedy])).toEqual([20]);
  });

  it('that one who waits gives up go to the one that is alone then [EXE-28]', async () => {
    const listing = await newListing();
    const [greedy, other] = [newWallet(), newWallet()];
    const runs = await come(listing, greedy, 21);
    const [leaving = ''] = await come(listing, other, 1);
    await here.repository.leave(runs[0] ?? '');
    await here.repository.leave(runs[1] ?? '');
    await here.repository.leave(leaving);
    expect(await here.repository.handOut(listing.id, BOUNDS)).toHaveLength(1);
    expect(await heldBy(listing, [greedy])).toEqual([19]);
  });

  it('are shared evenly by those who want more than there are [EXE-28]', async () => {
    const listing = await newListing();
    const wallets = Array.from({ length: 5 }, newWallet);
    for (const wallet of wallets) await come(listing, wallet, 24);
    // The first wallet was alone and has all; once these have ended each has its share.
    const slots = await database.db
      .selectFrom('seats')
      .select('run_id')
      .where('listing_id', '=', listing.id)
      .execute();
    for (const { run_id: run } of slots) await end(listing, run);
    expect(await heldBy(listing, wallets)).toEqual([4, 4, 4, 4, 4]);
  });

  it(
    'never go to one that has its share while one that has less waits, nor stay free without a reason [EXE-28]',
    { timeout: 90_000 },
    async () => {
      const wallets = Array.from({ length: 5 }, newWallet);
      const step = fc.record({
        come: fc.boolean(),
        wallet: fc.nat(4),
        which: fc.nat(30),
        priority: fc.boolean(),
      });
      const bounds = { ...BOUNDS, slots: 6 };
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 50, size: 'max' }), async (steps) => {
          const listing = await newListing();
          const runs: { runId: string; wallet: string; state: string }[] = [];
          const held = (wallet: string) =>
            runs.filter((run) => run.wallet === wallet && run.state === 'seated').length;
          for (const { come: comes, wallet: index, which, priority } of steps) {
            const wallet = wallets[index] ?? '';
            const before = new Map(wallets.map((one) => [one, held(one)]));
            if (comes || runs.length === 0) {
              const request = await listing.request(wallet, priority);
              const state = await here.repository.enter(request, bounds);
              runs.push({ runId: request.runId, wallet, state });
            } else {
              const [left] = runs.splice(which % runs.length, 1);
              await here.repository.leave(left?.runId ?? '');
              if (left?.state === 'seated') before.set(left.wallet, (before.get(left.wallet) ?? 0) - 1);
            }
            const present = new Set(runs.map((run) => run.wallet)).size;
            for (const runId of await here.repository.handOut(listing.id, bounds)) {
              const run = runs.find((one) => one.runId === runId);
              if (run) run.state = 'seated';
            }
            const [half, share] = [present < 2 ? 6 : 3, Math.ceil(6 / Math.max(1, present))];
            const waiting = new Set(runs.filter((run) => run.state === 'waiting').map((run) => run.wallet));
            const taken = runs.filter((run) => run.state === 'seated').length;
            const gained = wallets.filter((one) => held(one) > (before.get(one) ?? 0));
            const hasLess = (than: string) => [...waiting].some((one) => one !== than && held(one) < share);
            expect(taken).toBeLessThanOrEqual(6);
            expect(gained.filter((one) => held(one) > (hasLess(one) ? share : half))).toEqual([]);
            // Who waits beside a free slot has its half.
            expect([...waiting].filter((one) => taken < 6 && held(one) < half)).toEqual([]);
          }
        }),
        { numRuns: 10, seed: 15 },
      );
    },
  );
});
