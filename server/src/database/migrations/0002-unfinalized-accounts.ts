import { sql, type Kysely } from 'kysely';

/** Accounts whose place in the index rests on a slot that a fork may still take back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw('create table unfinalized_accounts (address text primary key, slot bigint not null)')
    .execute(db);
  await sql.raw('create index unfinalized_accounts_slot on unfinalized_accounts (slot)').execute(db);
}
