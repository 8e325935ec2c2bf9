import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { installFunctions, missingFunctions, readFunctions, type SqlFunction } from './functions.js';
import { migrate, requireMigrated } from './migrate.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** A function without arguments that gives a number, or a column of a table. */
function giving(name: string, value: string): SqlFunction {
  const text = `create or replace function ${name}() returns integer language sql as $$ select ${value} $$`;
  return { name, text };
}

async function call(name: string): Promise<number> {
  const { rows } = await sql<{ value: number }>`select ${sql.ref(name)}() as value`.execute(database.db);
  return rows[0]?.value as number;
}

describe('reading functions', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'functions '));
    mkdirSync(join(folder, 'runs'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (text: string) => writeFileSync(join(folder, 'runs', 'take-turn.sql'), text);

  it('finds them in the folders of their subjects and fills in the constants', () => {
    write('-- Why.\ncreate or replace function take_turn() as {{credits_per_day}}, {{price_changed}}');
    writeFileSync(join(folder, 'runs', 'notes.md'), 'no function');
    expect(readFunctions(folder)).toEqual([
      { name: 'take_turn', text: '-- Why.\ncreate or replace function take_turn() as 5, 6104' },
    ]);
  });

  it('refuses a file that defines something else, and a constant that is not known', () => {
    write('create or replace function take_turns() as 1');
    expect(() => readFunctions(folder)).toThrow(/take-turn\.sql does not define the function take_turn\./);
    write('create or replace function take_turn() as {{credits_per_year}}');
    expect(() => readFunctions(folder)).toThrow(
      /take-turn\.sql names the unknown constant credits_per_year\./,
    );
  });
});

describe('installing functions', () => {
  it('creates missing functions, although their tables are not there yet, and replaces nothing', async () => {
    const { db } = database;
    await installFunctions(db, [giving('early', 'amount from later_table')], 'missing');
    await sql`create table later_table as select 7 as amount`.execute(db);
    expect(await call('early')).toBe(7);
    await installFunctions(db, [giving('early', '8')], 'missing');
    expect(await call('early')).toBe(7);
  });

  it('replaces a function when its text has changed, and only then', async () => {
    const { db } = database;
    const one = giving('changing', '1');
    await installFunctions(db, [one], 'changed');
    expect(await call('changing')).toBe(1);
    // Not noticed: this is not the text of the file that changed.
    await sql.raw(giving('changing', '3').text).execute(db);
    await installFunctions(db, [one], 'changed');
    expect(await call('changing')).toBe(3);
    await installFunctions(db, [giving('changing', '2')], 'changed');
    expect(await call('changing')).toBe(2);
  });

  it('leaves everything as it was when one of them cannot be created', async () => {
    const broken: SqlFunction = { name: 'broken', text: 'create or replace function broken( as nothing' };
    const both = [giving('beside_broken', '1'), broken];
    await expect(installFunctions(database.db, both, 'changed')).rejects.toThrow('syntax error');
    expect(await missingFunctions(database.db, both)).toEqual(['beside_broken', 'broken']);
  });
});

describe('a migrated database', () => {
  it('has every function by the text of its file, also where its text was another', async () => {
    const { db } = database;
    await sql`delete from sql_functions where name = 'may_credit'`.execute(db);
    await sql`create or replace function may_credit(renter text, listing text) returns boolean
      language sql stable as 'select false'`.execute(db);
    expect(await migrate(db)).toEqual([]);
    const { rows } = await sql<{
      allowed: boolean;
    }>`select may_credit('wallet', 'listing') as allowed`.execute(db);
    expect(rows).toEqual([{ allowed: true }]);
  });

  it('is not ready while a function is missing, which it names [OPS-5]', async () => {
    const { db } = database;
    await sql`drop function free_seat`.execute(db);
    await expect(requireMigrated(db)).rejects.toThrow('The database lacks the functions free_seat.');
    await migrate(db);
    await requireMigrated(db);
  });

  it('can run each of its functions in PL/pgSQL: their bodies were not checked when they were created', async () => {
    const { db } = database;
    const { rows } = await sql<{ name: string; definition: string }>`select proname as name,
        pg_get_functiondef(pg_proc.oid) as definition from pg_proc join pg_language on pg_language.oid = prolang
      where pronamespace = current_schema()::regnamespace and lanname in ('sql', 'plpgsql')`.execute(db);
    const names = new Set(readFunctions().map(({ name }) => name));
    const own = rows.filter(({ name }) => names.has(name));
    expect(own).toHaveLength(names.size);
    for (const { definition } of own) await sql.raw(definition).execute(db);
  });
});
