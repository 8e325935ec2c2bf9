import type { createListingRepository } from '@agent-rental/server/listings';
import type { Connection } from './seed.js';

/** A query of the search, as its parsed parameters. */
export type Query = Parameters<ReturnType<typeof createListingRepository>['search']>[0];

/**
 * Makes the tables of the baseline: the listings with their search document, and an index for every condition and order of the
 * search.
 */
export async function createPlainListings(connection: Connection): Promise<void> {
  for (const statement of [
    `create schema plain`,
    `create table plain.listings as select listings.*, coalesce(document, ''::tsvector) as document
      from listings left join listing_search on listing_search.listing_id = listings.id`,
    `alter table plain.listings add primary key (id)`,
    `create index on plain.listings using gin (document) where status = 'active'`,
    `create index on plain.listings using gin (category) where status = 'active'`,
    `create index on plain.listings (published_at desc, id) where status = 'active'`,
    `create index on plain.listings (price_lamports, published_at desc, id) where status = 'active'`,
    `create index on plain.listings (price_lamports desc, published_at desc, id) where status = 'active'`,
    `create index on plain.listings (((ranked_rating_sum + 15)::float8 / (ranked_review_count + 5)) desc, published_at desc, id)
      where status = 'active'`,
    `create index on plain.listings (creator) where status = 'active'`,
    `vacuum analyze plain.listings`,
  ]) {
    await connection.query(statement);
  }
}

/** The plain query: one statement with the total by `count(*) over ()`. */
export function plainQuery(query: Query): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const rating = 'rating_sum::float8 / greatest(review_count, 1)';
  const conditions = [`status = 'active'`];
  const words = query.q === undefined ? undefined : `plainto_tsquery('english', ${value(query.q)})`;
  if (words) conditions.push(`document @@ ${words}`);
  if (query.category) conditions.push(`category @> array[${value(query.category)}]::text[]`);
  if (query.rental_model) conditions.push(`rental_model = ${value(query.rental_model)}`);
  if (query.min_price !== undefined)
    conditions.push(`price_lamports >= ${value(query.min_price * 1e9)}::bigint`);
  if (query.max_price !== undefined)
    conditions.push(`price_lamports <= ${value(query.max_price * 1e9)}::bigint`);
  if (query.min_rating !== undefined) conditions.push(`${rating} >= ${value(query.min_rating)}`);
  const first = {
    relevance: words ? `ts_rank_cd(document, ${words}) desc, ` : '',
    rating: '(ranked_rating_sum + 15)::float8 / (ranked_review_count + 5) desc, ',
    price_asc: 'price_lamports, ',
    price_desc: 'price_lamports desc, ',
    newest: '',
  }[query.sort];
  return {
    text: `select found.*, creators.display_name, creators.listing_count from (
        select id, creator, title, description, category, rental_model, price_lamports, run_count, completed_count,
          rating_sum, review_count, updated_at, sample_output, published_at, count(*) over () as total
        from plain.listings where ${conditions.join(' and ')}
        order by ${first}published_at desc, id limit ${value(query.limit)} offset ${value(query.offset)}
      ) found join creators on creators.wallet = found.creator`,
    values,
  };
}
