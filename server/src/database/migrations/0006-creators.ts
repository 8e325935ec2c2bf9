import { sql, type Kysely } from 'kysely';

/** What creators see: the URI of each version's public part, and the escrows as the chain has them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Null for a version that was made before this column.
  `alter table agent_versions add column metadata_uri text`,
  // One unique index alone: of two, an upsert on the one can fail on the other when two replicas insert the same row.
  `create table escrows (
    address text primary key,
    listing_address text not null,
    earnings_lamports bigint not null,
    total_earned_lamports bigint not null,
    slot bigint not null
  )`,
  `create index escrows_listing on escrows (listing_address)`,
  `create index charges_open_listing on charges (listing_id) where state in ('reserved', 'signed')`,
  // Escrows that were written before this table existed are read by going through the chain's history once more.
  `delete from index_cursor`,
];
