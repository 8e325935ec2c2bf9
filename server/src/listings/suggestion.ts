import { sql } from 'kysely';
import type { Db } from '../platform/database/database.js';

/** A word more costs a look-up more, and who writes so many has not mistyped one. */
const MAX_WORDS = 8;

/**
 * The words of a search that found nothing, each one that no listing has replaced by the most similar one that
 * some have. Undefined when nothing can be replaced.
 */
export async function suggestWords(db: Db, q: string): Promise<string | undefined> {
  const { rows } = await sql<{ word: string; known: boolean; nearest: string | null }>`
    with asked as (
      select lexeme as word, positions[1] as position, numnode(plainto_tsquery('english', lexeme)) = 0
        or exists (select from search_terms where kind = 'lexeme' and listing_count > 0
          and term = any (tsvector_to_array(to_tsvector('english', lexeme)))) as known
      from unnest(to_tsvector('simple', ${q})) limit ${MAX_WORDS + 1}
    )
    select word, known, case when not known then (
      select term from search_terms where kind = 'word' and listing_count > 0 and term % word
      order by similarity(term, word) desc, listing_count desc, term limit 1) end as nearest
    from asked order by position`.execute(db);
  const replaceable =
    rows.some(({ known }) => !known) && rows.every(({ known, nearest }) => known || nearest);
  if (!replaceable || rows.length > MAX_WORDS) return undefined;
  return rows.map(({ word, nearest }) => nearest ?? word).join(' ');
}
