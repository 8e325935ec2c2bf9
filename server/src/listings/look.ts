import type { Pool } from 'pg';
import { SUMMARY_COLUMNS, type ListingSummaryRow } from './listing-row.js';
import { boundsOf, EVERY_LISTING, facetLexeme, ORDERS, type Search } from './search-conditions.js';

/** What the index knows of the words that are looked for. */
export interface Counts {
  lexemes: string[];
  /** Listings that have the rarest word; zero without words. */
  least: number;
  /** The same of words in titles. */
  least_title: number;
  /** Active listings. */
  on_sale: number;
  /** Matches, where the rarest word is rare enough to look. */
  total: bigint;
  /** Where a word is in no listing: the words with the most similar ones that some listings have. */
  did_you_mean: string | null;
}

/** A row of a page; where the page is empty, nothing but its place. */
export type Shown = ListingSummaryRow | (Record<keyof ListingSummaryRow, null> & { position: null });

/** A word more costs a look-up more, and who writes so many has not mistyped one. */
const MOST_WORDS = 8;

/**
 * How many listings have each word, and, where that is few for one of them, all that is asked for at once.
 *
 * Most searches are this statement alone, and planning it takes longer than running it: it has a name, so that each
 * connection plans it once. Its texts are few, and its values stand in `asked`, where no plan can depend on them.
 *
 * @param few listings that have the rarest word, up to which they are looked through
 */
export async function look(
  pool: Pool,
  search: Search,
  few: number,
): Promise<{ counts: Counts; rows: Shown[] }> {
  const { q, sort, limit, offset } = search;
  const { minPriceLamports, maxPriceLamports, minRating } = boundsOf(search);
  const facet = facetLexeme(search) ?? null;
  const { rows } = await pool.query<Counts & Shown>({
    name: `look for listings, ${sort}`,
    text: TEXTS[sort],
    values: [q, facet, few, limit, offset, minPriceLamports, maxPriceLamports, minRating],
  });
  const [counts] = rows;
  if (!counts) throw new Error('An aggregate without groups has one row.');
  return { counts, rows };
}

const IS_FEW = `(select least between 1 and (select few from asked) from counts)`;

const IN_TITLE = `seq in (select seq from listing_search
  where ${IS_FEW} and (select least_title from counts) > 0 and (select count(*) from found) > 1
    and document @@ (select titled from counts))`;

const nearest = (candidates: string): string => `
  (select term from search_terms where kind = 'word' and listing_count > 0 and ${candidates}
    order by similarity(term, word) desc, listing_count desc, term limit 1)`;

// Of words that differ by a letter, else of all. What deletions are, migration 0010 tells.
const DID_YOU_MEAN = `
  select case when bool_or(not known) and bool_and(known or nearest is not null) and count(*) <= ${MOST_WORDS}
    then string_agg(coalesce(nearest, word), ' ' order by position) end
  from (
    select word, position, known, case when not known then coalesce(
      ${nearest(`deletions && array(select left(word, i - 1) || substr(word, i + 1) from generate_series(1, length(word) + 1) i)`)},
      ${nearest(`term % word`)}) end as nearest
    from (
      select lexeme as word, positions[1] as position, numnode(plainto_tsquery('english', lexeme)) = 0
        or exists (select from search_terms where kind = 'lexeme' and listing_count > 0
          and term = any (tsvector_to_array(to_tsvector('english', lexeme)))) as known
      from unnest(to_tsvector('simple', (select q from asked))) limit ${MOST_WORDS + 1}
    ) words
    offset 0 -- or each word is looked up twice
  ) words`;

const textOf = (order: string): string => `
  with asked as materialized (
    select $1::text as q, $2::text as facet, $3::integer as few, $4::integer as page_limit, $5::integer as page_offset,
      $6::bigint as min_price, $7::bigint as max_price, $8::float8 as min_rating
  ), counts as materialized (
    select coalesce(array_agg(lexeme), '{}') as lexemes, coalesce(min(coalesce(whole.listing_count, 0)), 0)::integer as least,
      coalesce(min(coalesce(title.listing_count, 0)), 0)::integer as least_title,
      string_agg(quote_literal('title ' || lexeme), ' & ')::tsquery as titled
    from unnest(tsvector_to_array(to_tsvector('english', (select q from asked)))) lexeme
    left join search_terms whole on whole.kind = 'lexeme' and whole.term = lexeme
    left join search_terms title on title.kind = 'lexeme' and title.term = 'title ' || lexeme
  ), worded as materialized (
    select seq, listing_id, published_at, price_lamports, rating from listing_search
    where ${IS_FEW} and document @@ (
      select case when facet is null then plainto_tsquery('english', q)
        else plainto_tsquery('english', q) && quote_literal(facet)::tsquery end from asked)
  ), found as materialized (
    -- Apart: without knowing the bounds, their indexes look better to the planner than the words' does.
    select worded.* from worded, asked where (min_price is null or price_lamports >= min_price)
      and (max_price is null or price_lamports <= max_price) and (min_rating is null or rating >= min_rating)
  ), page as (
    select listing_id, row_number() over () as position from (
      select listing_id from found order by ${order}
      limit (select page_limit from asked) offset (select page_offset from asked)
    ) ordered
  )
  select case when coalesce(position, 1) = 1 then lexemes end as lexemes, least, least_title, (select count(*) from found) as total,
    (select listing_count::integer from search_terms where kind = 'lexeme' and term = '${EVERY_LISTING}') as on_sale,
    case when least = 0 then (${DID_YOU_MEAN}) end as did_you_mean,
    ${SUMMARY_COLUMNS.map((column) => `listings.${column}`).join(', ')},
    creators.display_name, creators.listing_count, position
  from counts left join (
    page join listings on listings.id = page.listing_id join creators on creators.wallet = listings.creator
  ) on true
  order by position`;

/** By relevance, listings with all the words in their titles come first, and then the newest. */
const TEXTS = {
  relevance: textOf(`(${IN_TITLE}) desc, ${ORDERS.newest}`),
  newest: textOf(ORDERS.newest),
  rating: textOf(ORDERS.rating),
  price_asc: textOf(ORDERS.price_asc),
  price_desc: textOf(ORDERS.price_desc),
};
