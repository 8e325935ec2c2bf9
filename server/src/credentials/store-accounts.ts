import { sql } from 'kysely';
import type { Tx } from '../database/connection.js';
import type { IndexedAccount } from './indexed-account.js';

/** The tables that hold accounts alone; a listing's row has more. */
const TABLES = { credential: 'credentials', balance: 'balances', escrow: 'escrows' } as const;

/**
 * Stores accounts as they were at a slot, each unless the index has it newer. Accounts of a kind share one statement.
 *
 * @param accounts in the order in which all transactions store them
 */
export async function storeAccounts(
  tx: Tx,
  accounts: readonly IndexedAccount[],
  slot: bigint,
): Promise<void> {
  for (const [kind, table] of Object.entries(TABLES)) {
    const rows = accounts.flatMap((each) =>
      each.kind === kind && 'row' in each ? [{ ...each.row, slot }] : [],
    );
    await storeRows(tx, table, rows);
  }
  for (const account of accounts) {
    if (account.kind === 'listing') await storeListing(tx, account, slot);
  }
}

async function storeRows(
  tx: Tx,
  table: string,
  rows: readonly ({ address: string } & Record<string, unknown>)[],
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = Object.keys(first);
  // One row an address: a statement changes no row twice.
  const byAddress = new Map(rows.map((row) => [row.address, row]));
  const values = [...byAddress.values()].map(
    (row) => sql`(${sql.join(columns.map((column) => row[column]))})`,
  );
  await sql`
    insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)}
    on conflict (address) do update
      set ${sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`))}
      where ${sql.ref(`${table}.slot`)} <= excluded.slot`.execute(tx);
}

/** The fields of a known listing that the chain decides. */
async function storeListing(
  tx: Tx,
  { id, fields: { created_at: createdAt, ...fields } }: IndexedAccount & { kind: 'listing' },
  slot: bigint,
): Promise<void> {
  await tx
    .updateTable('listings')
    .set({
      ...fields,
      slot,
      published_at: sql`coalesce(published_at, ${createdAt})`,
      updated_at: new Date(),
    })
    .where('id', '=', id)
    .where('slot', '<=', slot)
    .execute();
}
