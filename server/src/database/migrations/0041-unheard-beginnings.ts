import { sql, type Kysely } from 'kysely';

/** Adds when a run began to the view of unheard runs: equal calls that begin together do not wait for each other. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create or replace view unheard_runs as
        select id, wallet, listing_id, request_digest, left_at, created_at from runs
        where delivered_at is null and status <> 'undelivered' and stop_reason is null
          and case when left_at is null
            then status = 'running' or finished_at >= now() - interval '1 minute'
            else left_at >= now() - interval '10 minutes' and (status = 'running' or output is not null) end`,
    )
    .execute(db);
}
