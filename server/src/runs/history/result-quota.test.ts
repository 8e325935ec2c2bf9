import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../database/connection.js';
import { deriveKeys } from '../../platform/keys.js';
import { insertListing, insertRun, loginOf, newWallet, openTestDatabase } from '../../testing/index.js';
import { createRunRepository, type FinishedRun } from './repository.js';

const QUOTA_BYTES = 10_000;
const OUTPUT = 'x'.repeat(2_900);

const database = await openTestDatabase();
afterAll(() => database.close());
const { db } = database;
const keys = deriveKeys(new Uint8Array(32).fill(9));
const runs = createRunRepository(db, keys, QUOTA_BYTES);

type Listing = Awaited<ReturnType<typeof insertListing>>;

const resultOf = (runId: string, listing: Listing, output: string): FinishedRun => ({
  runId,
  agentId: listing.id,
  status: 'completed',
  output,
  costLamports: 0n,
  durationMs: 1,
});

/** Ends a run with a result. @returns its id */
async function end(listing: Listing, wallet: string, output = OUTPUT): Promise<string> {
  const id = await insertRun(db, listing, wallet);
  await runs.finish(resultOf(id, listing, output));
  return id;
}

let second = 0;
/** As `end`, with a time of its end that is before all later ones. */
async function endInOrder(listing: Listing, wallet: string, output?: string): Promise<string> {
  const id = await end(listing, wallet, output);
  const finishedAt = new Date(Date.now() - 3_600_000 + second++ * 1_000);
  await db.updateTable('runs').set({ finished_at: finishedAt }).where('id', '=', id).execute();
  return id;
}

/** Which of these runs have their results. */
async function kept(ids: readonly string[]): Promise<boolean[]> {
  const rows = await db.selectFrom('runs').select(['id', 'output']).where('id', 'in', ids).execute();
  return ids.map((id) => rows.find((row) => row.id === id)?.output !== null);
}

/** The bytes of results that a wallet or listing keeps, and the most that the server takes them for. */
async function bytesOf(kind: 'wallet' | 'listing', holder: string): Promise<[actual: number, most: number]> {
  const { bytes: actual } = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.sum<bigint | null>('output_bytes').as('bytes'))
    .where(kind === 'wallet' ? 'wallet' : 'listing_id', '=', holder)
    .executeTakeFirstOrThrow();
  const { bytes: most } = await db
    .selectFrom('kept_results')
    .select('bytes')
    .where('kind', '=', kind)
    .where('holder', '=', holder)
    .executeTakeFirstOrThrow();
  return [Number(actual ?? 0), Number(most)];
}

it('a result of a wallet beyond its quota takes the place of its oldest ones alone [RUN-17]', async () => {
  const wallet = newWallet();
  const [listing, other] = [await insertListing(db), await insertListing(db)];
  const held = await insertRun(db, listing, wallet);
  await runs.hold(resultOf(held, listing, OUTPUT));
  const ids = [
    await endInOrder(listing, wallet),
    await endInOrder(other, wallet),
    await endInOrder(listing, wallet),
  ];
  const foreign = await endInOrder(other, newWallet());
  expect(await kept([...ids, foreign])).toEqual([true, true, true, true]);
  const fourth = await end(other, wallet);
  expect(await kept([...ids, fourth, foreign, held])).toEqual([false, true, true, true, true, true]);
  const removed = await runs.find(ids[0] ?? '', loginOf(wallet));
  expect(removed && runs.toFinished(removed)).toBeUndefined();
  expect(removed).toMatchObject({ status: 'completed', output_digest: expect.any(Buffer) as Buffer });
  expect(await runs.finishHeld(held)).toBe(true);
  expect(await kept([...ids, fourth, held])).toEqual([false, false, true, true, true]);
});

it('a result of a listing beyond its quota takes the place of its oldest ones alone [RUN-17]', async () => {
  const [listing, other] = [await insertListing(db), await insertListing(db)];
  const wallet = newWallet();
  const elsewhere = await endInOrder(other, wallet);
  const ids = [
    await endInOrder(listing, wallet),
    await endInOrder(listing, newWallet()),
    await endInOrder(listing, newWallet()),
    await end(listing, newWallet()),
  ];
  expect(await kept([elsewhere, ...ids])).toEqual([true, false, true, true, true]);
});

it('results that expired take no part of the quota', async () => {
  const [listing, wallet] = [await insertListing(db), newWallet()];
  const ids = [await endInOrder(listing, wallet), await endInOrder(listing, wallet)];
  await db
    .updateTable('runs')
    .set({ output: null })
    .where('id', '=', ids[0] ?? '')
    .execute();
  ids.push(await endInOrder(listing, wallet), await end(listing, wallet));
  expect(await kept(ids)).toEqual([false, true, true, true]);
  const [actual, most] = await bytesOf('wallet', wallet);
  expect(most).toBe(actual);
});

it('the quota holds for runs that end at once on several replicas [RUN-17]', async () => {
  const others = [1, 2].map(() => openDatabase(database.url, () => undefined));
  const replicas = [db, ...others.map((other) => other.db)].map((of) =>
    createRunRepository(of, keys, QUOTA_BYTES),
  );
  const listings = await Promise.all([1, 2, 3].map(() => insertListing(db)));
  const wallets = [1, 2, 3].map(() => newWallet());
  const results = await Promise.all(
    Array.from({ length: 90 }, async (_, index) => {
      const listing = listings[index % 3] as Listing;
      const id = await insertRun(db, listing, wallets[Math.floor(index / 3) % 3] as string);
      return resultOf(id, listing, 'x'.repeat(index % 2 === 0 ? 2_900 : 400));
    }),
  );
  try {
    await Promise.all(
      replicas.flatMap((replica, at) =>
        results.filter((_, index) => index % replicas.length === at).map((run) => replica.finish(run)),
      ),
    );
  } finally {
    await Promise.all(others.map((other) => other.close()));
  }
  const holders = [
    ...wallets.map((wallet) => ['wallet', wallet] as const),
    ...listings.map(({ id }) => ['listing', id] as const),
  ];
  expect(await kept(results.map(({ runId }) => runId))).toContain(true);
  for (const [kind, holder] of holders) {
    const [actual, most] = await bytesOf(kind, holder);
    expect(actual).toBeLessThanOrEqual(QUOTA_BYTES);
    expect(most, 'no end is left out of the count').toBeGreaterThanOrEqual(actual);
  }
});
