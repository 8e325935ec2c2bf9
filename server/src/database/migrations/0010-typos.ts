import { sql, type Kysely } from 'kysely';

/** Finds words that differ by one letter, without comparing any. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table search_terms add column deletions text[]
    generated always as (case when kind = 'word' then word_deletions(term) end) stored`,
  `create index search_terms_deletions on search_terms using gin (deletions) with (fastupdate = off)
    where kind = 'word'`,
];
