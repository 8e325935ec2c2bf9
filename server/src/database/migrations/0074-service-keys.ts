import { sql, type Kysely } from 'kysely';

/** Keeps the keys that sign what the service gives out, so that one command gives every replica another one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table service_keys (
    purpose text not null,
    number integer not null check (number > 0),
    kid text not null,
    sealed bytea check (sealed is not null or accepted_until is not null),
    public_key bytea,
    made_at timestamptz not null default now(),
    signs_from timestamptz not null default now(),
    accepted_until timestamptz,
    revoked_at timestamptz check (revoked_at is null or accepted_until is not null),
    primary key (purpose, number)
  )`.execute(db);
}
