import { sql, type Kysely } from 'kysely';

/** Keeps which version of a listing the runs of a wallet, or of one API key of it, run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The wallet's own pin has no key.
  `create table version_pins (
    wallet text not null,
    listing_id text not null references listings (id) on delete cascade,
    api_key_id text not null default '',
    version integer not null,
    created_at timestamptz not null default now(),
    primary key (wallet, listing_id, api_key_id)
  )`,
  // A draft that is removed takes its pins away.
  `create index version_pins_listing on version_pins (listing_id)`,
];
