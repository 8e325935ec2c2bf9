import type { RentalModel } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db, Tx } from '../database/connection.js';
import type { IndexedAccount } from './indexed-account.js';
import { rankReviews } from '../listings/index.js';
import { storeAccounts } from './store-accounts.js';

/** PostgreSQL's code for a transaction that it ended so that another can go on. */
const DEADLOCK_DETECTED = '40P01';
/** Each time one of the waiting transactions has gone on. */
const MAX_RETRIES = 5;

/** The index's record of a rental that the chain may have changed. */
export interface RentalRow {
  address: string;
  listing_id: string;
  rental_model: RentalModel;
  valid: boolean;
  expires_at: Date | null;
  balance_lamports: bigint | null;
  max_price_lamports: bigint | null;
}

/** The index of chain state. Writes carry the slot they were read at and never replace a newer one. */
export interface CredentialRepository {
  /** Found by listing and buyer: it costs the same however many rentals either has. */
  findRental(wallet: string, listingId: string): Promise<RentalRow | undefined>;
  /**
   * Takes in accounts as they were at a slot, all of them or none. An account that was not read at `finalized` is noted, to be read
   * again when it is.
   *
   * @param alongside runs first in the same transaction; it runs again when a deadlock has ended that transaction
   */
  apply(
    accounts: IndexedAccount[],
    slot: bigint,
    finalized: boolean,
    alongside?: (tx: Tx) => Promise<void>,
  ): Promise<void>;
  /** Addresses of all accounts that were read before this slot. */
  addressesBefore(slot: bigint): Promise<string[]>;
  /** Addresses noted at this slot or earlier. */
  unfinalizedUpTo(slot: bigint): Promise<string[]>;
  readCursor(programId: string): Promise<string | undefined>;
  writeCursor(programId: string, signature: string): Promise<void>;
}

export function createCredentialRepository(db: Db): CredentialRepository {
  const applyOnce: CredentialRepository['apply'] = (accounts, slot, finalized, alongside) =>
    db.transaction().execute(async (tx) => {
      await alongside?.(tx);
      // In one order: transactions that take in the same accounts must not wait for each other.
      const inOrder = accounts.toSorted((one, other) => (addressOf(one) < addressOf(other) ? -1 : 1));
      const present = inOrder.filter(({ kind }) => kind !== 'absent');
      await storeAccounts(tx, present, slot);
      const absent = inOrder.filter(({ kind }) => kind === 'absent').map(addressOf);
      const removed = await remove(tx, absent, slot);
      if (finalized) await settle(tx, inOrder.map(addressOf), slot);
      else await note(tx, [...present.map(addressOf), ...removed], slot);
    });

  return {
    findRental: (wallet, listingId) =>
      db
        .selectFrom('listings')
        .innerJoin('credentials', 'credentials.listing_address', 'listings.address')
        .leftJoin('balances', (join) =>
          join
            .onRef('balances.listing_address', '=', 'credentials.listing_address')
            .onRef('balances.buyer', '=', 'credentials.buyer'),
        )
        .where('credentials.buyer', '=', wallet)
        .where('listings.id', '=', listingId)
        .select([
          'credentials.address',
          'listings.id as listing_id',
          'credentials.rental_model',
          'credentials.valid',
          'credentials.expires_at',
          'balances.balance_lamports',
          'balances.max_price_lamports',
        ])
        .executeTakeFirst(),
    async apply(accounts, ...others) {
      await retryDeadlocks(() => applyOnce(accounts, ...others));
      const buyers = accounts.flatMap((each) => (each.kind === 'credential' ? [each.row.buyer] : []));
      if (buyers.length > 0) await rankReviews(db, buyers);
    },
    async addressesBefore(slot) {
      const { rows } = await sql<{ address: string }>`
        select address from credentials where slot < ${slot}
        union all select address from balances where slot < ${slot}
        union all select address from escrows where slot < ${slot}
        union all select address from listings where slot < ${slot} and status <> 'draft'`.execute(db);
      return rows.map(({ address }) => address);
    },
    async unfinalizedUpTo(slot) {
      const rows = await db
        .selectFrom('unfinalized_accounts')
        .select('address')
        .where('slot', '<=', slot)
        .execute();
      return rows.map(({ address }) => address);
    },
    async readCursor(programId) {
      const row = await db
        .selectFrom('index_cursor')
        .select('signature')
        .where('program_id', '=', programId)
        .executeTakeFirst();
      return row?.signature;
    },
    async writeCursor(programId, signature) {
      await db
        .insertInto('index_cursor')
        .values({ program_id: programId, signature })
        .onConflict((conflict) => conflict.column('program_id').doUpdateSet({ signature }))
        .execute();
    },
  };
}

/**
 * Runs a transaction again that PostgreSQL ended to break a deadlock. The order of accounts avoids most deadlocks. But a
 * trigger counts listings for creators and search, and batches with several new listings reach those rows in different
 * orders.
 */
async function retryDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let left = MAX_RETRIES; ; left -= 1) {
    try {
      return await transaction();
    } catch (error) {
      if (left === 0 || (error as { code?: unknown }).code !== DEADLOCK_DETECTED) throw error;
    }
  }
}

function addressOf(account: IndexedAccount): string {
  return 'row' in account ? account.row.address : account.address;
}

/** Removes accounts that no longer exist: a balance was closed, or a fork dropped its creation. Gives the removed ones. */
async function remove(tx: Tx, addresses: string[], slot: bigint): Promise<string[]> {
  if (addresses.length === 0) return [];
  const credentials = await tx
    .deleteFrom('credentials')
    .where('address', 'in', addresses)
    .where('slot', '<=', slot)
    .returning('address')
    .execute();
  const balances = await tx
    .deleteFrom('balances')
    .where('address', 'in', addresses)
    .where('slot', '<=', slot)
    .returning('address')
    .execute();
  const escrows = await tx
    .deleteFrom('escrows')
    .where('address', 'in', addresses)
    .where('slot', '<=', slot)
    .returning('address')
    .execute();
  // A listing's account never closes: without one it was not published.
  const listings = await tx
    .updateTable('listings')
    .set({ status: 'draft', published_at: null, slot })
    .where('address', 'in', addresses)
    .where('status', '!=', 'draft')
    .where('slot', '<=', slot)
    .returning('address')
    .execute();
  return [...credentials, ...balances, ...escrows, ...listings].map(({ address }) => address);
}

async function note(tx: Tx, addresses: string[], slot: bigint): Promise<void> {
  if (addresses.length === 0) return;
  await tx
    .insertInto('unfinalized_accounts')
    .values(addresses.map((address) => ({ address, slot })))
    .onConflict((conflict) =>
      conflict.column('address').doUpdateSet({ slot }).where('unfinalized_accounts.slot', '<', slot),
    )
    .execute();
}

async function settle(tx: Tx, addresses: string[], slot: bigint): Promise<void> {
  if (addresses.length === 0) return;
  await tx
    .deleteFrom('unfinalized_accounts')
    .where('address', 'in', addresses)
    .where('slot', '<=', slot)
    .execute();
}
