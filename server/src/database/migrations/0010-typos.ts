import { sql, type Kysely } from 'kysely';

/** Finds words that differ by one letter, without comparing any. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // A word, and what is left of it without one of its letters. Two words that differ by a letter that was left out, added,
  // replaced or swapped with the next have one of these in common.
  `create function word_deletions(word text) returns text[] language sql immutable strict parallel safe as $$
    select array_agg(left(word, i - 1) || substr(word, i + 1)) from generate_series(1, length(word) + 1) i
  $$`,
  `alter table search_terms add column deletions text[]
    generated always as (case when kind = 'word' then word_deletions(term) end) stored`,
  `create index search_terms_deletions on search_terms using gin (deletions) with (fastupdate = off)
    where kind = 'word'`,
];
