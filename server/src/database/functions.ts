import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import type { Db, Tx } from './connection.js';
import { FUNCTION_CONSTANTS } from './function-constants.js';

const FOLDER = fileURLToPath(new URL('../../src/database/functions/', import.meta.url));

/** A function of the database, as its file defines it. */
export interface SqlFunction {
  name: string;
  /** A `create or replace function` statement, with the constants in it. */
  text: string;
}

/**
 * Reads the functions of the folder `functions`: one file a function, named after it. `{{name}}` in a text is a
 * constant of `function-constants.ts`. Replicas of two versions run at the same time while one replaces the
 * other: a function with other parameters or results gets a new name.
 *
 * @throws Error for a file that does not define the function of its name, or names an unknown constant.
 */
export function readFunctions(folder = FOLDER): SqlFunction[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.sql'),
  );
  return files.toSorted().map((path) => {
    const name = (path.split(/[\\/]/).at(-1) ?? path).replace(/\.sql$/, '').replaceAll('-', '_');
    const text = readFileSync(join(folder, path), 'utf8').replaceAll(
      /\{\{(\w+)\}\}/g,
      (_, constant: string) => {
        const value = FUNCTION_CONSTANTS[constant];
        if (value === undefined) throw new Error(`${path} names the unknown constant ${constant}.`);
        return String(value);
      },
    );
    if (!text.includes(`create or replace function ${name}(`)) {
      throw new Error(`${path} does not define the function ${name}.`);
    }
    return { name, text };
  });
}

/**
 * Creates functions in one transaction. The caller holds the lock of `migrate`.
 *
 * @param which `missing`: functions whose name the database lacks; `changed`: functions with another text than the installed one.
 */
export async function installFunctions(
  db: Db,
  functions: readonly SqlFunction[],
  which: 'missing' | 'changed',
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`create table if not exists sql_functions (name text primary key, sha256 text not null)`.execute(
      tx,
    );
    // A body may name tables that the migrations create later.
    await sql`set local check_function_bodies = off`.execute(tx);
    const isCurrent = which === 'missing' ? await isThere(tx) : await isInstalled(tx);
    for (const each of functions) {
      if (isCurrent(each)) continue;
      await sql.raw(each.text).execute(tx);
      await sql`insert into sql_functions (name, sha256) values (${each.name}, ${hashOf(each)})
        on conflict (name) do update set sha256 = excluded.sha256`.execute(tx);
    }
  });
}

/** Names of those functions that the database does not have. */
export async function missingFunctions(db: Db, functions: readonly SqlFunction[]): Promise<string[]> {
  const has = await isThere(db);
  return functions.filter((each) => !has(each)).map(({ name }) => name);
}

async function isThere(db: Db | Tx): Promise<(each: SqlFunction) => boolean> {
  const { rows } = await sql<{ name: string }>`select proname as name from pg_proc
    where pronamespace = current_schema()::regnamespace`.execute(db);
  const names = new Set(rows.map(({ name }) => name));
  return ({ name }) => names.has(name);
}

async function isInstalled(tx: Tx): Promise<(each: SqlFunction) => boolean> {
  const { rows } = await sql<{
    name: string;
    sha256: string;
  }>`select name, sha256 from sql_functions`.execute(tx);
  const hashes = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
  return (each) => hashes.get(each.name) === hashOf(each);
}

function hashOf({ text }: SqlFunction): string {
  return createHash('sha256').update(text).digest('hex');
}
