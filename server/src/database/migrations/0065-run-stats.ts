import { sql, type Kysely } from 'kysely';

/**
 * Counts for creators how runs of a listing ended, how long they took and what was refused, by hour and by day. What happens is
 * appended to the differences that are folded anyway.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // A replica of the version before appends none of these.
  `alter table listing_run_deltas
    add column measure text,
    add column detail text not null default '',
    add column amount integer not null default 1,
    add column duration_ms integer,
    add column noted_at timestamptz not null default now()`,
  `create table listing_stats (
    listing_id text not null,
    grain text not null check (grain in ('hour', 'day')),
    started_at timestamptz not null,
    measure text not null,
    detail text not null,
    amount bigint not null,
    primary key (listing_id, grain, started_at, measure, detail)
  ) with (fillfactor = 80)`,
  `create index listing_stats_age on listing_stats (grain, started_at)`,
  // A trigger, because runs end without a result in several places, and seldom.
  `create trigger count_undelivered_run after update of status on runs for each row
    when (new.status = 'undelivered' and old.status = 'running') execute function count_undelivered_run()`,
];
