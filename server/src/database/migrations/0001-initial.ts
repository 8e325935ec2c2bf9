import { readFileSync } from 'node:fs';
import { sql, type Kysely } from 'kysely';

const FOLDER = new URL('../../../src/database/schema/', import.meta.url);
/** In the order of their references. */
const FILES = [
  'identity',
  'listings',
  'search',
  'credentials',
  'runs',
  'charges',
  'payments',
  'run-log',
  'files',
  'moderation',
  'events',
  'webhooks',
  'email',
];

/** Every table, index and trigger, from the folder `schema`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const file of FILES) await sql.raw(readFileSync(new URL(`${file}.sql`, FOLDER), 'utf8')).execute(db);
}
