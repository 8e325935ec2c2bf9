import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEmptyDatabase, type TemporaryDatabase } from '../testing/index.js';
import { migrateJobs } from '../jobs/jobs.js';
import { openDatabase } from './connection.js';
import { migrate, requireMigrated } from './migrate.js';
import { prepare } from './prepared-statements.js';

const MIGRATIONS = ['0001-initial'];

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
afterAll(() => database.close());

it('several replicas that migrate at once all succeed, and the schema is there once [OPS-5]', async () => {
  const replicas = Array.from({ length: 4 }, () => openDatabase(database.url, () => undefined));
  try {
    const applied = await Promise.all(replicas.map(({ db, pool }) => migrate(db, () => migrateJobs(pool))));
    expect(applied.flat().toSorted()).toEqual(MIGRATIONS);
  } finally {
    await Promise.all(replicas.map((replica) => replica.close()));
  }
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(database.db);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(MIGRATIONS);
  expect(await migrate(database.db)).toEqual([]);
  expect(await database.db.selectFrom('listings').selectAll().execute()).toEqual([]);
});

it('a database that a newer release has migrated is refused in one line, and stays as it is [OPS-5]', async () => {
  const { db } = database;
  await sql`insert into kysely_migration (name, timestamp) values ('0099-newer', '')`.execute(db);
  await expect(migrate(db)).rejects.toThrow(
    /^The database was migrated by a newer release .* it has 0099-newer\. Start that release/,
  );
  // A replica that runs goes on while a newer one takes its place.
  await requireMigrated(db);
  await sql`delete from kysely_migration where name = '0099-newer'`.execute(db);
});

it('64-bit integers come back exactly', async () => {
  const { rows } = await sql<{ amount: bigint }>`select 9007199254740993::bigint as amount`.execute(
    database.db,
  );
  expect(rows).toEqual([{ amount: 9_007_199_254_740_993n }]);
});

it('a migration that cannot be done is an error, with its cause', async () => {
  const unreachable = openDatabase('postgres://absent@127.0.0.1:1/none', () => undefined);
  const error = await migrate(unreachable.db).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ message: 'The database could not be migrated.' });
  expect((error as Error).cause).toMatchObject({ code: 'ECONNREFUSED' });
  await unreachable.close();
});

it('a connection is free and set up when it is handed out, also to a callback as the job queue is one', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  const fresh = openDatabase(database.url, () => undefined);
  const jit = await new Promise((resolve, reject) => {
    fresh.pool.connect((error, client, release) => {
      if (!client) {
        reject(error ?? new Error('no connection'));
        return;
      }
      client.query<{ jit: string }>('show jit', (failed, result) => {
        release();
        if (failed) reject(failed);
        else resolve(result.rows[0]?.jit);
      });
    });
  });
  await fresh.close();
  process.off('warning', note);
  expect(jit).toBe('off');
  expect(warnings).toEqual([]);
});

it('a prepared statement is planned once by each connection, in and outside of transactions, and no other is', async () => {
  const doubled = prepare('select $1::integer * 2 as doubled');
  const one = openDatabase(database.url, () => undefined, 1);
  const plans = async () =>
    (await one.pool.query<{ statement: string }>('select statement from pg_prepared_statements')).rows;
  const double = async (db: Pick<typeof one.db, 'executeQuery'>, value: number) =>
    (await db.executeQuery<{ doubled: number }>(CompiledQuery.raw(doubled, [value]))).rows;
  expect(await double(one.db, 2)).toEqual([{ doubled: 4 }]);
  expect(await one.db.transaction().execute((tx) => double(tx, 3))).toEqual([{ doubled: 6 }]);
  expect((await one.pool.query(doubled, [4])).rows).toEqual([{ doubled: 8 }]);
  expect((await one.pool.query('select $1::integer * 3 as tripled', [4])).rows).toEqual([{ tripled: 12 }]);
  expect(await plans()).toEqual([{ statement: doubled }]);
  await expect(one.pool.query(doubled, ['none'])).rejects.toThrow('invalid input syntax');
  expect(await double(one.db, 5)).toEqual([{ doubled: 10 }]);
  await one.close();
});

it('only work that is repeated after a crash leaves its commits to the disk later', async () => {
  const settingOf = async ({ pool }: Pick<typeof database, 'pool'>) =>
    (await pool.query<{ setting: string }>("select current_setting('synchronous_commit') as setting")).rows[0]
      ?.setting;
  // The address of the tests' database turns it off for all.
  const durable = openDatabase(database.url.split('?')[0] ?? '', () => undefined, 1);
  const repeatable = durable.openForRepeatableWork(1);
  expect(await settingOf(durable)).toBe('on');
  expect(await settingOf(repeatable)).toBe('off');
  await repeatable.close();
  await durable.close();
});
