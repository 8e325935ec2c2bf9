import { sql, type RawBuilder } from 'kysely';

/**
 * In SQL: whether a wallet has a rental of a creator other than this one and itself. Such a wallet has paid someone to whom
 * the money does not come back.
 */
export const rentedElsewhere = (
  wallet: RawBuilder<string>,
  creator: RawBuilder<string>,
) => sql<boolean>`exists (
  select from credentials join listings as rented on rented.address = credentials.listing_address
  where credentials.buyer = ${wallet} and credentials.valid and rented.creator not in (${creator}, ${wallet}))`;
