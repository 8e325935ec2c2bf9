import { describe, expect, it } from 'vitest';
import { newWallet } from '../../testing/index.js';
import { BOUNDS, openReplicas } from './slots.test-support.js';

const { database, here, newListing } = await openReplicas(1);

type Listing = Awaited<ReturnType<typeof newListing>>;

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
  it('are sixteen for a wallet that is alone, and half of them once another one comes [EXE-28]', async () => {
    const listing = await newListing();
    const [greedy, other] = [newWallet(), newWallet()];
    const runs = await come(listing, greedy, 30);
    expect(await heldBy(listing, [greedy])).toEqual([16]);
    await come(listing, other, 30);
    expect(await heldBy(listing, [greedy, other])).toEqual([16, 1]);
    for (const run of runs.slice(0, 10)) await end(listing, run);
    // Three are left for a wallet that has none.
    expect(await heldBy(listing, [greedy, other])).toEqual([8, 9]);
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
    // Alone again, it may have sixteen: it is let in by the last one that leaves.
    await end(listing, first);
    await end(listing, request.runId);
    expect(await heldBy(listing, [greedy])).toEqual([16]);
  });

  it('have four for wallets that have none, although the others wait for more [EXE-28]', async () => {
    const listing = await newListing();
    const [greedy, ...others] = Array.from({ length: 6 }, newWallet) as [string, ...string[]];
    await come(listing, greedy, 30);
    for (const wallet of others) await come(listing, wallet, 2);
    // The last one waits like everybody.
    expect(await heldBy(listing, [greedy, ...others])).toEqual([16, 1, 1, 1, 1, 0]);
  });

  it('are more than one wallet can have where there are few of them [EXE-28]', async () => {
    for (const [slots, most] of [
      [1, 1],
      [2, 1],
      [5, 4],
      [6, 4],
    ] as const) {
      const listing = await newListing();
      const wallet = newWallet();
      const entries: string[] = [];
      for (let run = 0; run < slots; run += 1) {
        entries.push(await here.repository.enter(await listing.request(wallet), { ...BOUNDS, slots }));
      }
      expect(entries.filter((entry) => entry === 'seated')).toHaveLength(most);
    }
  });

  it('that one who waits gives up go to the one that is alone then [EXE-28]', async () => {
    const listing = await newListing();
    const [greedy, other] = [newWallet(), newWallet()];
    const runs = await come(listing, greedy, 17);
    const [leaving = ''] = await come(listing, other, 1);
    await here.repository.leave(runs[0] ?? '');
    await here.repository.leave(runs[1] ?? '');
    await here.repository.leave(leaving);
    expect(await here.repository.handOut(listing.id, BOUNDS)).toHaveLength(1);
    expect(await heldBy(listing, [greedy])).toEqual([15]);
  });

  it('are shared evenly by those who want more than there are [EXE-28]', async () => {
    const listing = await newListing();
    const wallets = Array.from({ length: 5 }, newWallet);
    for (const wallet of wallets) await come(listing, wallet, 24);
    // The first wallet was alone and has sixteen; once these have ended each has its share.
    const slots = database.db.selectFrom('seats').select('run_id').where('listing_id', '=', listing.id);
    for (const { run_id: run } of await slots.execute()) await end(listing, run);
    expect(await heldBy(listing, wallets)).toEqual([4, 4, 4, 4, 4]);
  });
});
