import { sql, type Kysely } from 'kysely';

/** Finds the run that a call without an idempotency key of its own repeats, and callers that gave up on one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table runs add column call_scope bytea, add column retried_by text, add column retried_at timestamptz`,
  `create index runs_call_scope on runs (call_scope, request_digest, created_at) where call_scope is not null`,
  `create index runs_retried_by on runs (retried_by, retried_at) where retried_by is not null`,
];
