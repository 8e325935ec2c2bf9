import { sql, type Kysely } from 'kysely';

/** Adds the public content that replicas share. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table content_blocks (
    cid text primary key check (length(cid) between 1 and 200),
    bytes bytea not null check (octet_length(bytes) <= 2097152),
    created_at timestamptz not null default now()
  )`,
];
