import { sql } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { ListingRow } from './listing-row.js';
import {
  allOf,
  every,
  EVERY_LISTING,
  facetConditions,
  facetLexeme,
  ORDERS,
  rangeConditions,
  type Search,
  type Sql,
} from './search-conditions.js';
import { suggestWords } from './suggestion.js';

/** One page of a search. */
export interface FoundListings {
  /** The page's listings, in their order. */
  rows: ListingRow[];
  /** How many listings there are on all pages, exactly. */
  total: number;
  /** Of a search that found nothing: words that find something. */
  didYouMean?: string;
}

/** Finds active listings. */
export interface ListingSearch {
  find(search: Search): Promise<FoundListings>;
}

/** Up to so many matches are ranked one by one; of more, those whose titles have the words come first. */
const RANKED_AT_MOST = 1_000;
/** What it costs to walk an order's index to a row and read its document, in rows that the words' index gives. */
const WALKED_ROW_COST = 10;

/** Part of a result, as long as it is in one order. */
interface Part {
  /** What its documents match. */
  documents: Sql;
  order: Sql;
  total: number;
}

/** What the index knows of the words that are looked for. */
interface Counts {
  lexemes: string[];
  /** Listings that have the rarest word; zero without words. */
  least: number;
  /** The same of words in titles. */
  least_title: number;
  /** Active listings. */
  on_sale: number;
  /** Matches, where the rarest word is rare enough to look. */
  total: bigint;
}

/** A row of a page; where the page is empty, nothing but its place. */
type Shown = ListingRow | (Record<keyof ListingRow, null> & { position: null });

/** @param rankedAtMost less than by default in tests, which have few listings */
export function createListingSearch(db: Db, rankedAtMost = RANKED_AT_MOST): ListingSearch {
  /** A search without words: the orders' indexes answer it alone. */
  async function browse(search: Search): Promise<FoundListings> {
    const conditions = every(facetConditions(search), rangeConditions(search));
    const total =
      rangeConditions(search).length > 0
        ? sql`select count(*) from listing_search where ${conditions}`
        : sql`select coalesce(sum(listing_count), 0)::bigint from search_terms
            where kind = 'lexeme' and term = ${facetLexeme(search) ?? EVERY_LISTING}`;
    const order = ORDERS[search.sort === 'relevance' ? 'newest' : search.sort];
    const page = sql`select listing_id from listing_search where ${conditions}
      order by ${order} limit ${search.limit} offset ${search.offset}`;
    const { rows } = await sql<Shown & { total: bigint }>`
      select counted.total, shown.* from (select (${total}) as total) counted
      left join (${show(page)}) shown on true order by position`.execute(db);
    return { rows: shownOf(rows), total: Number(rows[0]?.total ?? 0n) };
  }

  /** How many listings have each word, and, where that is few for one of them, all that is asked for at once. */
  async function look(search: Search) {
    const words = wordsOf(search);
    const facet = facetLexeme(search);
    const documents = facet ? sql`${words} && ${allOf([facet])}` : words;
    const order = search.sort === 'relevance' ? rank(words) : ORDERS[search.sort];
    const page = sql`select listing_id from found order by ${order}
      limit ${search.limit} offset ${search.offset}`;
    const { rows } = await sql<Shown & Counts>`
      with words as (
        select lexeme, coalesce(whole.listing_count, 0) as count, coalesce(title.listing_count, 0) as title_count
        from unnest(tsvector_to_array(to_tsvector('english', ${search.q}))) lexeme
        left join search_terms whole on whole.kind = 'lexeme' and whole.term = lexeme
        left join search_terms title on title.kind = 'lexeme' and title.term = 'title ' || lexeme
      ), found as materialized (
        select seq, listing_id, published_at, price_lamports, rating, document from listing_search
        where (select min(count) from words) between 1 and ${rankedAtMost}
          and document @@ (${documents}) and ${every(rangeConditions(search))}
      )
      select counts.*, shown.* from (
        select coalesce(array_agg(lexeme), '{}') as lexemes, coalesce(min(count), 0)::integer as least,
          coalesce(min(title_count), 0)::integer as least_title, (select count(*) from found) as total,
          (select listing_count::integer from search_terms
            where kind = 'lexeme' and term = ${EVERY_LISTING}) as on_sale
        from words
      ) counts left join (${show(page)}) shown on true order by position`.execute(db);
    const [counts] = rows;
    if (!counts) throw new Error('An aggregate without groups has one row.');
    return { counts, rows: shownOf(rows), documents };
  }

  async function count(search: Search, documents: Sql): Promise<number> {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from listing_search
      where ${every([sql`document @@ (${documents})`], rangeConditions(search))}`.execute(db);
    return Number(rows[0]?.count ?? 0n);
  }

  /** A page of a part: by the words' index where they are few, else along the order's. */
  async function page(search: Search, part: Part, limit: number, offset: number, onSale: number) {
    if (limit <= 0 || offset >= part.total) return [];
    const rowsWalked = ((offset + limit) * onSale) / part.total;
    const found =
      rowsWalked * WALKED_ROW_COST < part.total
        ? // Wrapped, so that no index on documents is thought of.
          sql`listing_search where ${every([sql`coalesce(document @@ (${part.documents}), false)`], rangeConditions(search))}`
        : sql`(select * from listing_search where ${every([sql`document @@ (${part.documents})`], rangeConditions(search))}
            offset 0) found`;
    const page = sql`select listing_id from ${found} order by ${part.order} limit ${limit} offset ${offset}`;
    const { rows } = await sql<Shown>`${show(page)} order by position`.execute(db);
    return shownOf(rows);
  }

  /** Words that many listings have. */
  async function findMany(search: Search, seen: Awaited<ReturnType<typeof look>>): Promise<FoundListings> {
    const { documents, counts } = seen;
    const { lexemes, least, least_title: leastTitle, on_sale: onSale } = counts;
    // One word is counted already; for more, and for bounds, the index is asked.
    const counted = lexemes.length === 1 && !facetLexeme(search) && rangeConditions(search).length === 0;
    const total = counted ? least : await count(search, documents);
    const onePart = async (order: Sql): Promise<FoundListings> => {
      const part = { documents, order, total };
      return { rows: await page(search, part, search.limit, search.offset, onSale), total };
    };
    if (search.sort !== 'relevance') return onePart(ORDERS[search.sort]);
    if (total <= rankedAtMost) return onePart(rank(wordsOf(search)));
    const order = ORDERS.newest;
    const titled = allOf(lexemes.map((lexeme) => `title ${lexeme}`));
    const inTitle = { documents: sql`${documents} && ${titled}`, order, total: leastTitle };
    if (!counted && leastTitle > 0) inTitle.total = await count(search, inTitle.documents);
    const others = { documents: sql`${documents} && !! ${titled}`, order, total: total - inTitle.total };
    const first = await page(search, inTitle, search.limit, search.offset, onSale);
    const rest = await page(
      search,
      others,
      search.limit - first.length,
      Math.max(search.offset - inTitle.total, 0),
      onSale,
    );
    return { rows: [...first, ...rest], total };
  }

  async function find(search: Search): Promise<FoundListings> {
    if (!search.q?.trim()) return browse(search);
    const seen = await look(search);
    const { least, total } = seen.counts;
    if (least <= rankedAtMost) return { rows: seen.rows, total: Number(total) };
    return findMany(search, seen);
  }

  return {
    async find(search) {
      const found = await find(search);
      if (found.total > 0 || !search.q?.trim()) return found;
      const didYouMean = await suggestWords(db, search.q);
      if (didYouMean === undefined) return found;
      const { total } = await find({ ...search, q: didYouMean, limit: 1, offset: 0 });
      return total > 0 ? { ...found, didYouMean } : found;
    },
  };
}

/** The listings of a page of ids, with their creators, each at its `position`. */
const show = (page: Sql): Sql => sql`
  select listings.*, creators.display_name, creators.listing_count, position
  from (select listing_id, row_number() over () as position from (${page}) ordered) page
  join listings on listings.id = page.listing_id
  join creators on creators.wallet = listings.creator`;
const shownOf = (rows: readonly Shown[]): ListingRow[] => rows.filter((row) => row.id !== null);

const wordsOf = (search: Search): Sql => sql`plainto_tsquery('english', ${search.q})`;
const rank = (words: Sql): Sql => sql`ts_rank_cd(document, ${words}) desc, published_at desc, seq`;
