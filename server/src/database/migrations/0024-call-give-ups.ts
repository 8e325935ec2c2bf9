import { sql, type Kysely } from 'kysely';

/** Remembers after which times callers gave up on calls, so that their next calls are answered in time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table call_give_ups (
    id bigint generated always as identity primary key,
    caller text not null,
    elapsed_ms integer not null,
    given_up_at timestamptz not null default now()
  )`,
  `create index call_give_ups_caller on call_give_ups (caller, given_up_at desc)`,
  `create index call_give_ups_given_up_at on call_give_ups (given_up_at)`,
];
