import { sql, type Kysely } from 'kysely';

/** Keeps which listings offer a free first run, and which wallets have had theirs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table listings add column free_trial boolean not null default false`,
  `alter table runs add column is_trial boolean not null default false`,
  // A run that is forgotten gives its trial back.
  `create table trials (
    wallet text not null,
    listing_id text not null,
    run_id uuid not null unique references runs (id) on delete cascade,
    taken_at timestamptz not null default now(),
    primary key (wallet, listing_id)
  )`,
  `create index trials_of_listing on trials (listing_id, taken_at)`,
  // A trigger, because runs end without a result in several places, also with their process.
  `create trigger return_trial after update of status on runs for each row
    when (new.status = 'undelivered' and new.is_trial and new.output_left_at is null) execute function return_trial()`,
];
