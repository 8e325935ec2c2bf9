import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../database/connection.js';
import { insertListing, loginOf, newWallet, openTestDatabase } from '../../testing/index.js';
import { createBeginRun, type NewRun } from './begin-runs.js';

const BOUNDS = { slots: 2, queueLength: 1, ownLength: 1, leaseMs: 60_000, claimMs: 60_000 };
const seat = { isPriority: false, bounds: BOUNDS };

let listing: Awaited<ReturnType<typeof insertListing>>;
const database = await openTestDatabase();
const other = openDatabase(database.url, () => undefined);
afterAll(async () => {
  await other.close();
  await database.close();
});
beforeEach(async () => {
  listing = await insertListing(database.db);
});

const newRun = (fields: Partial<NewRun> = {}): NewRun => ({
  id: randomUUID(),
  listingId: listing.id,
  versionId: listing.version_id,
  owner: loginOf(newWallet()),
  key: undefined,
  requestDigest: randomBytes(32),
  salt: randomBytes(16),
  inputDigest: randomBytes(32),
  ...fields,
});

const recorded = async (runs: readonly NewRun[]): Promise<string[]> => {
  const ids = runs.map(({ id }) => id);
  const rows = await database.db.selectFrom('runs').select('id').where('id', 'in', ids).execute();
  return rows.map(({ id }) => id).toSorted();
};

describe('runs that begin together', () => {
  it('are on record with what each asked, and take slots and places in their order [EXE-27]', async () => {
    const begin = createBeginRun(database.db);
    const runs = [newRun(), newRun(), newRun(), newRun(), newRun()];
    // The last run asks for no slot yet.
    const started = await Promise.all(runs.map((run, index) => begin(run, index < 4 ? { seat } : {})));
    expect(started.map((each) => each?.entry)).toEqual(['seated', 'seated', 'waiting', 'full', undefined]);
    const rows = await database.db.selectFrom('runs').selectAll().execute();
    for (const run of runs) {
      expect(rows.find(({ id }) => id === run.id)).toMatchObject({
        wallet: run.owner.wallet,
        version_id: run.versionId,
        status: 'running',
        request_digest: run.requestDigest,
        salt: run.salt,
        input_digest: run.inputDigest,
      });
    }
  });

  it('are one of those with the same key, on two replicas at once, and only that one has a slot', async () => {
    const [here, there] = [createBeginRun(database.db), createBeginRun(other.db)];
    for (let round = 0; round < 20; round += 1) {
      listing = await insertListing(database.db);
      const wallet = newWallet();
      const keyed = (key: string) =>
        newRun({ owner: loginOf(wallet), key: { name: key, windowSeconds: undefined } });
      const keys = ['a', 'b', 'c'];
      const runs = [...keys.map(keyed), ...keys.toReversed().map(keyed)];
      const bounds = { ...BOUNDS, slots: 20 };
      const started = await Promise.all(
        runs.map((run, index) => (index < 3 ? here : there)(run, { seat: { isPriority: false, bounds } })),
      );
      expect(started.filter((each) => each !== undefined)).toHaveLength(3);
      const { rows } = await sql<{ count: bigint }>`
        select count(*) from seats where listing_id = ${listing.id}`.execute(database.db);
      expect(rows[0]?.count).toBe(3n);
    }
  });

  it('do not fail because one of them cannot begin', async () => {
    const begin = createBeginRun(database.db);
    const earlier = newRun();
    await begin(earlier);
    const runs = [newRun(), newRun(), newRun({ id: earlier.id }), newRun()];
    const started = await Promise.allSettled(runs.map((run) => begin(run)));
    expect(started.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await recorded(runs)).toEqual(runs.map(({ id }) => id).toSorted());
  });

  it('wait for the disk where a caller is told of the run first, and else do not', async () => {
    // Rows do not show whether their commit waited for the disk, so a trigger records each transaction's setting.
    await sql`create table asked (how text)`.execute(database.db);
    await sql`create function note_how() returns trigger language plpgsql as $$
      begin insert into asked values (current_setting('synchronous_commit')); return null; end $$`.execute(
      database.db,
    );
    await sql`create constraint trigger note_how after insert on runs deferrable initially deferred
      for each row execute function note_how()`.execute(database.db);
    // As in production: a database for tests may wait for no disk at all.
    const waiting = openDatabase(
      `${database.url}${database.url.includes('?') ? '&' : '?'}options=-c%20synchronous_commit%3Don`,
      () => undefined,
    );
    const begin = createBeginRun(waiting.db);
    for (const isDurable of [false, true]) await begin(newRun(), { isDurable, seat });
    await waiting.close();
    await sql`drop trigger note_how on runs`.execute(database.db);
    const { rows } = await sql<{ how: string }>`select how from asked`.execute(database.db);
    expect(rows.map(({ how }) => how)).toEqual(['off', 'on']);
  });
});
