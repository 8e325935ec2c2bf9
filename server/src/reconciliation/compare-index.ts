import { isDeepStrictEqual } from 'node:util';
import { findEscrowAddress, findListingAddress } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import type { Chain, ProgramHistory } from '../chain/index.js';
import { readIndexedAccount, type IndexedAccount, type Indexer } from '../credentials/index.js';
import type { Db } from '../database/connection.js';
import type { FoundDifference } from './differences.js';

/** Accounts that one call of the RPC gives. */
const ACCOUNTS_PER_READ = 100;

/** The dependencies of the comparison. */
export interface CompareIndexDeps {
  chain: Pick<Chain, 'programId' | 'getAccounts'>;
  history: Pick<ProgramHistory, 'listings' | 'holdings'>;
  indexer: Pick<Indexer, 'catchUp' | 'indexAccounts'>;
  db: Db;
}

/**
 * Compares the index with the program's accounts at `finalized`, both ways, listing by listing. The index is brought
 * up to the chain first, and again before an account counts as different: a change meanwhile is no difference.
 *
 * @param counted is told how many accounts were compared.
 */
export async function* compareIndex(
  { chain, history, indexer, db }: CompareIndexDeps,
  counted: (accounts: number) => void,
): AsyncGenerator<FoundDifference> {
  await indexer.catchUp();
  const onChain = new Set(await history.listings());
  const known = await db
    .selectFrom('listings')
    .select(['id', 'address'])
    .where('published_at', 'is not', null)
    .orderBy('id')
    .execute();
  for (const { id } of known) {
    const listing = findListingAddress(id, chain.programId).address;
    onChain.delete(listing.toBase58());
    const addresses = new Set([
      listing.toBase58(),
      findEscrowAddress(listing, chain.programId).address.toBase58(),
      ...(await history.holdings(listing)),
      ...(await indexedHoldings(db, listing.toBase58())),
    ]);
    counted(addresses.size);
    const all = [...addresses];
    for (let start = 0; start < all.length; start += ACCOUNTS_PER_READ) {
      yield* compareAccounts(all.slice(start, start + ACCOUNTS_PER_READ));
    }
  }
  for (const address of onChain) {
    const row = await db
      .selectFrom('listings')
      .select('id')
      .where('address', '=', address)
      .executeTakeFirst();
    // One that was published and never indexed is a difference of the index alone.
    if (row) yield* compareAccounts([address]);
    else yield { kind: 'unknown_listing', address };
  }

  async function* compareAccounts(addresses: readonly string[]): AsyncGenerator<FoundDifference> {
    const suspects = await differing(addresses);
    if (suspects.length === 0) return;
    await indexer.catchUp();
    for (const address of await differing(suspects)) {
      yield { kind: 'index', address, repair: () => indexer.indexAccounts([new PublicKey(address)]) };
    }
  }

  /** The addresses whose rows are older than the finalized account, and other than it. */
  async function differing(addresses: readonly string[]): Promise<string[]> {
    const keys = addresses.map((address) => new PublicKey(address));
    const { slot, accounts } = await chain.getAccounts(keys, 'finalized');
    const rows = await indexedRows(db, addresses);
    return addresses.filter((address, index) => {
      const account = readIndexedAccount(keys[index] as PublicKey, accounts[index], chain.programId);
      const row = rows.get(address);
      if (row !== undefined && (row['slot'] as bigint) > slot) return false;
      return account !== null && !isSame(account, row);
    });
  }
}

/** Whether a row has the values of the account. */
function isSame(account: IndexedAccount, row: Readonly<Record<string, unknown>> | undefined): boolean {
  if (account.kind === 'absent') return row === undefined || row['status'] === 'draft';
  if (row === undefined) return false;
  const { created_at: _, ...expected } =
    account.kind === 'listing' ? account.fields : { ...account.row, created_at: undefined };
  return Object.entries(expected).every(([name, value]) => isDeepStrictEqual(row[name], value));
}

/** The credentials and balances of a listing that the index has. */
async function indexedHoldings(db: Db, listing: string): Promise<string[]> {
  const rows = await db
    .selectFrom('credentials')
    .select('address')
    .where('listing_address', '=', listing)
    .unionAll(db.selectFrom('balances').select('address').where('listing_address', '=', listing))
    .execute();
  return rows.map(({ address }) => address);
}

/** Rows of the index by address, of whatever kind. */
async function indexedRows(
  db: Db,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
  const tables = ['listings', 'escrows', 'credentials', 'balances'] as const;
  const found = await Promise.all(
    tables.map((table) => db.selectFrom(table).selectAll().where('address', 'in', addresses).execute()),
  );
  return new Map(found.flat().map((row) => [row.address, row]));
}
