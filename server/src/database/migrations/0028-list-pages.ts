import { sql, type Kysely } from 'kysely';

/**
 * Indexes in the order of the lists, so that a page begins at any place without reading what stands before it; and rentals
 * by listing and buyer, for the access check of a run and for comparing a listing with the chain. Lists of rentals by the
 * version before read the whole table until it is gone; its other statements find what they need.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // What decides which rentals a list shows stands in the index: those that it skips are not looked up in the table. Of
  // valid ones alone, so that it is never taken for an access check, which asks for others, too: a plan for any wallet
  // expects few rentals, and would go through all of one that has thousands.
  `create index credentials_list on credentials (buyer, purchased_at, address)
    include (listing_address, rental_model, expires_at) where valid`,
  `drop index credentials_buyer`,
  `create index credentials_listing on credentials (listing_address, buyer)`,
  `create index balances_listing on balances (listing_address, buyer)`,
  `drop index balances_buyer`,
  `create index runs_list on runs (wallet, created_at, id)`,
  `drop index runs_wallet`,
  // Takes the place of runs_finished as well: a run more or less that did not finish does not matter to its one reader.
  `create index runs_listing_list on runs (wallet, listing_id, created_at, id)`,
  `drop index runs_finished`,
  `create index listings_creator_list on listings (creator, published_at, id) where status <> 'draft'`,
];
