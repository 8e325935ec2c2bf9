import { sql, type Kysely } from 'kysely';

/** What creators see: the URI of each version's public part, and the escrows as the chain has them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Null for a version that was made before this column.
  `alter table agent_versions add column metadata_uri text`,
  `create table escrows (
    address text primary key,
    listing_address text not null unique,
    earnings_lamports bigint not null,
    total_earned_lamports bigint not null,
    slot bigint not null
  )`,
  `create index charges_open_listing on charges (listing_id) where state in ('reserved', 'signed')`,
  // Escrows that were written before this table existed are read by going through the chain's history once more.
  `delete from index_cursor`,
];
