import { lamportsFromSol, type searchListingsQuery } from '@agent-rental/contract';
import { sql, type RawBuilder } from 'kysely';
import type { z } from 'zod';

/** The parsed query of `GET /v1/listings`. */
export type Search = z.output<typeof searchListingsQuery>;
/** A fragment of SQL. */
export type Sql = RawBuilder<unknown>;

const and = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);

/** Orders of `listing_search` that an index has. Ties are broken to the end, or a row could stand on two pages. */
export const ORDERS = {
  newest: sql`published_at desc, seq`,
  rating: sql`rating desc, published_at desc, seq`,
  price_asc: sql`price_lamports, published_at desc, seq`,
  price_desc: sql`price_lamports desc, published_at desc, seq`,
};

/** The term that counts every active listing. */
export const EVERY_LISTING = '*';

/** The lexeme by which documents carry category and rental model; undefined when neither is asked for. */
export function facetLexeme({ category, rental_model }: Search): string | undefined {
  const parts = [category && `category ${category}`, rental_model && `model ${rental_model}`];
  return parts.filter(Boolean).join(' ') || undefined;
}

/** Category and rental model as conditions on the columns of their names. */
export function facetConditions({ category, rental_model }: Search): Sql[] {
  return [category, rental_model].filter((name) => name !== undefined).map((name) => sql`${sql.ref(name)}`);
}

/** Conditions on price and rating, bounds included. */
export function rangeConditions({ min_price, max_price, min_rating }: Search): Sql[] {
  return [
    ...(min_price === undefined ? [] : [sql`price_lamports >= ${lamportsFromSol(min_price)}`]),
    ...(max_price === undefined ? [] : [sql`price_lamports <= ${lamportsFromSol(max_price)}`]),
    ...(min_rating === undefined ? [] : [sql`rating >= ${min_rating}`]),
  ];
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
