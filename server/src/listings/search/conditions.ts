import { lamportsFromSol, type searchListingsQuery } from '@agent-rental/contract';
import { sql, type RawBuilder } from 'kysely';
import type { z } from 'zod';

/** The parsed query of `GET /v1/listings`. */
export type Search = z.output<typeof searchListingsQuery>;
/** A fragment of SQL. */
export type Sql = RawBuilder<unknown>;

const and = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);

/** Orders of `listing_search` that an index has. Ties are broken to the end, or a row could be on two pages. */
export const ORDERS = {
  newest: 'published_at desc, seq',
  rating: 'rating_order desc, published_at desc, seq',
  price_asc: 'price_lamports, published_at desc, seq',
  price_desc: 'price_lamports desc, published_at desc, seq',
};

/** The term that counts every active listing. */
export const EVERY_LISTING = '*';

/** The lexeme by which documents carry category and rental model; undefined when neither is asked for. */
export function facetLexeme({
  category,
  rental_model,
}: Pick<Search, 'category' | 'rental_model'>): string | undefined {
  const parts = [category && `category ${category}`, rental_model && `model ${rental_model}`];
  return parts.filter(Boolean).join(' ') || undefined;
}

/** The columns that are true of listings of the category and the rental model that are asked for: they have these names. */
export function facetColumns({ category, rental_model }: Search): string[] {
  return [category, rental_model].filter((name) => name !== undefined);
}

/** Bounds in the database's units, themselves included; null where the search has none. */
export interface Bounds {
  minPriceLamports: bigint | null;
  maxPriceLamports: bigint | null;
  minRating: number | null;
}

/** The bounds of a search. */
export function boundsOf({ min_price, max_price, min_rating }: Search): Bounds {
  return {
    minPriceLamports: min_price === undefined ? null : lamportsFromSol(min_price),
    maxPriceLamports: max_price === undefined ? null : lamportsFromSol(max_price),
    minRating: min_rating ?? null,
  };
}

/** The bounds of a search: the comparison left of each value, and the value. */
export function rangesOf(search: Search): { compared: string; value: bigint | number }[] {
  const { minPriceLamports, maxPriceLamports, minRating } = boundsOf(search);
  return [
    ...(minPriceLamports === null ? [] : [{ compared: 'price_lamports >=', value: minPriceLamports }]),
    ...(maxPriceLamports === null ? [] : [{ compared: 'price_lamports <=', value: maxPriceLamports }]),
    ...(minRating === null ? [] : [{ compared: 'rating >=', value: minRating }]),
  ];
}

/** The bounds as conditions. */
export function rangeConditions(search: Search): Sql[] {
  return rangesOf(search).map(({ compared, value }) => sql`${sql.raw(compared)} ${value}`);
}

/** A `tsquery` of lexemes that must all be there, as they are: they are not parsed as words. */
export function allOf(lexemes: readonly string[]): Sql {
  const quoted = lexemes.map((lexeme) => `'${lexeme.replaceAll(/['\\]/g, '$&$&')}'`);
  return sql`${quoted.join(' & ')}::tsquery`;
}

/** All the conditions, or true without any. */
export function every(...conditions: readonly Sql[][]): Sql {
  return and(conditions.flat());
}
