import { sql, type Kysely } from 'kysely';

/** Keeps what probes and runs learned of whether agents can be reached, and lists the agents of a creator. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table agent_probes (
    listing_id text primary key references listings (id) on delete cascade,
    requested_at timestamptz,
    reached_at timestamptz,
    unreachable_since timestamptz,
    failed_at timestamptz,
    reason text,
    http_status integer,
    detail text,
    check ((unreachable_since is null) = (failed_at is null) and (failed_at is null) = (reason is null))
  )`,
  // Of the last 24 hours, like sample_runs.
  `create table probe_requests (wallet text not null, created_at timestamptz not null default now())`,
  `create index probe_requests_wallet on probe_requests (wallet, created_at)`,
  `create index probe_requests_old on probe_requests (created_at)`,
  `alter table listings add column unverified_at timestamptz`,
  `create index listings_of_creator on listings (creator, created_at, id)`,
  // The new one begins with the same column.
  `drop index listings_creator`,
];
