import { sql } from 'kysely';
import type { Keys } from '../platform/keys.js';
import type { Db } from './connection.js';

/** A column with sealed values. */
export interface SealedPlace {
  /** Its content, in words for people. */
  readonly name: string;
  readonly table: string;
  /** The columns of its key. */
  readonly id: readonly string[];
  readonly column: string;
  /** Binds a row's ciphertext to the row. */
  contextOf(id: readonly unknown[]): string;
}

/** Rows that are read at once; parts of files are large. */
const BATCH = 50;

/** The sealed values of a place, read in batches, in the order of the key. */
async function* sealedIn(db: Db, { table, id, column }: SealedPlace) {
  const key = sql.join(id.map((name) => sql.ref(name)));
  for (let after: readonly unknown[] | undefined; ;) {
    const beyond = after === undefined ? sql`true` : sql`(${key}) > (${sql.join(after)})`;
    const { rows } = await sql<Record<string, unknown> & { sealed: Buffer }>`
      select ${key}, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${sql.ref(column)} is not null and ${beyond} order by ${key} limit ${BATCH}`.execute(db);
    for (const row of rows) yield { id: id.map((name) => row[name]), sealed: row.sealed };
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    after = id.map((name) => last[name]);
  }
}

/**
 * Seals everything in these places with the present key, where another one sealed it. May run beside servers, and again: what
 * changes meanwhile is left to the next time.
 *
 * @throws Error when something was sealed by a key that is not given, naming it.
 */
export async function resealAll(
  db: Db,
  keys: Keys,
  places: readonly SealedPlace[],
): Promise<{ resealed: number; changedMeanwhile: number }> {
  const counts = { resealed: 0, changedMeanwhile: 0 };
  for (const place of places) {
    for await (const { id, sealed } of sealedIn(db, place)) {
      const context = place.contextOf(id);
      if (keys.isSealedByPresent(sealed, context)) continue;
      const anew = keys.seal(opened(keys, sealed, context), context);
      const key = sql.join(place.id.map((name) => sql.ref(name)));
      const { numAffectedRows } = await sql`
        update ${sql.table(place.table)} set ${sql.ref(place.column)} = ${anew}
        where (${key}) = (${sql.join(id)}) and ${sql.ref(place.column)} = ${sealed}`.execute(db);
      if (numAffectedRows === 1n) counts.resealed += 1;
      else counts.changedMeanwhile += 1;
    }
  }
  return counts;
}

/** How much in these places another key than the present one has sealed. */
export async function countSealedByOthers(
  db: Db,
  keys: Keys,
  places: readonly SealedPlace[],
): Promise<number> {
  let count = 0;
  for (const place of places) {
    for await (const { id, sealed } of sealedIn(db, place))
      if (!keys.isSealedByPresent(sealed, place.contextOf(id))) count += 1;
  }
  return count;
}

function opened(keys: Keys, sealed: Buffer, context: string): Buffer {
  try {
    return keys.open(sealed, context);
  } catch (cause) {
    throw new Error(`${context} was sealed by none of the keys: add its key to OTHER_SEALING_KEYS.`, {
      cause,
    });
  }
}
