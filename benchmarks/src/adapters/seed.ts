import type { Pool } from 'pg';
import { insertCopies } from '../harness/copies.js';
import { TYPICAL_LISTINGS } from './typical-listings.js';

/** Makes copies of a published listing, with typical texts, schemas and ids. */
export async function copyListings(database: Pool, listingId: string, count: number): Promise<void> {
  await database.query(
    `create unlogged table bench_copies as
     select n, gen_random_uuid() as version_id, typical, 'bench listing ' || n as address,
       trim('-' from left(regexp_replace(lower(typical->>'title'), '[^a-z]+', '-', 'g'), 24)) || '-'
         || translate(lpad(n::text, 6, '0'), '0189', 'abcd') as id
     from generate_series(1, ${count}) n,
       lateral (select $1::jsonb -> ((n - 1) % jsonb_array_length($1::jsonb))::int as typical) one`,
    [JSON.stringify(TYPICAL_LISTINGS)],
  );
  await insertCopies(
    database,
    'listings',
    `'id', copy.id, 'address', copy.address, 'version_id', copy.version_id, 'title', typical->'title',
     'description', typical->'description'`,
    `from listings original, bench_copies copy where original.id = $1`,
    [listingId],
  );
  await insertCopies(
    database,
    'agent_versions',
    `'id', copy.version_id, 'listing_id', copy.id, 'input_schema', typical->'input_schema'`,
    `from agent_versions original, bench_copies copy
     where original.id = (select version_id from listings where id = $1)`,
    [listingId],
  );
}

/** Changes the schema of every copy, so that clients cannot reuse the tools of the old one. */
export async function reviseCopies(database: Pool, revision: number): Promise<void> {
  await database.query(
    `update agent_versions set input_schema = input_schema || jsonb_build_object('title', 'Revision ' || $1::int)
     where id in (select version_id from bench_copies)`,
    [revision],
  );
}

/**
 * Adds rentals of the first `count` copies to a wallet, with the terms of the holder's one rental. The rentals are in the index
 * alone: a client can list them, but not run them.
 */
export async function rentCopies(
  database: Pool,
  holder: string,
  wallet: string,
  count: number,
): Promise<void> {
  for (const table of ['credentials', 'balances']) {
    await insertCopies(
      database,
      table,
      `'address', left($2, 32) || translate(lpad(copy.n::text, 8, '0'), '0', 'A'), 'buyer', $2::text, 'listing_address', copy.address`,
      `from ${table} original, bench_copies copy where original.buyer = $1 and copy.n <= $3`,
      [holder, wallet, count],
    );
  }
}
