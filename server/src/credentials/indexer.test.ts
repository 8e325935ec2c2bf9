import {
  ACCESS_CREDENTIAL_OFFSETS,
  findAccessCredentialAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  MARKETPLACE_PROGRAM_ID,
  PER_QUERY_BALANCE_OFFSETS,
  type AccountName,
} from '@agent-rental/program-client';
import { Keypair, PublicKey, type AccountInfo } from '@solana/web3.js';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../chain/index.js';
import { createLogger } from '../platform/logger.js';
import { insertListing, newTestListingId, openTestDatabase, programAccount } from '../testing/index.js';
import { windowBytes } from './indexed-account.js';
import { createIndexer } from './indexer.js';
import { createCredentialRepository } from './repository.js';

/** The present accounts and transactions of the chain. Replaces an RPC node. */
const state = {
  slot: 10n,
  accounts: new Map<string, AccountInfo<Buffer>>(),
  /** Signatures, oldest first, with their writes. */
  transactions: [] as { signature: string; wrote: PublicKey[] }[],
};
const chain = {
  programId: MARKETPLACE_PROGRAM_ID,
  getAccounts: async (addresses: PublicKey[]) => ({
    slot: state.slot,
    accounts: addresses.map((address) => state.accounts.get(address.toBase58()) ?? null),
  }),
  finalizedSlot: async () => state.slot,
  signaturesAfter: async (until: string | undefined, before: string | undefined) => {
    const newestFirst = state.transactions.map(({ signature }) => signature).toReversed();
    const start = before === undefined ? 0 : newestFirst.indexOf(before) + 1;
    const end = until === undefined ? newestFirst.length : newestFirst.indexOf(until);
    return newestFirst
      .slice(start, end)
      .slice(0, 1000)
      .map((signature) => ({ signature, slot: state.slot, failed: false }));
  },
  changedAccounts: async (signature: string) =>
    state.transactions.find((transaction) => transaction.signature === signature)?.wrote ?? null,
} as unknown as Chain;

const database = await openTestDatabase();
afterAll(() => database.close());
const repository = createCredentialRepository(database.db);
const indexer = createIndexer(chain, repository, createLogger('silent'), 1000);
const row = await insertListing(database.db);
const listingId = row.id;
const listing = new PublicKey(row.address);
beforeEach(() => {
  state.slot = 10n;
  state.accounts.clear();
  state.transactions.length = 0;
});

const bytesOf = (name: AccountName) => programAccount(name).data;

function credentialBytes(buyer: PublicKey, valid = true): Buffer {
  const data = bytesOf('AccessCredential');
  data.set(buyer.toBytes(), ACCESS_CREDENTIAL_OFFSETS.buyer);
  data.set(listing.toBytes(), ACCESS_CREDENTIAL_OFFSETS.listing);
  data[ACCESS_CREDENTIAL_OFFSETS.rentalModel] = 2;
  data[ACCESS_CREDENTIAL_OFFSETS.valid] = valid ? 1 : 0;
  return data;
}

/** The amount is in the eight bytes after buyer and listing. */
function balanceBytes(buyer: PublicKey, lamports: bigint): Buffer {
  const data = bytesOf('PerQueryBalance');
  data.set(buyer.toBytes(), PER_QUERY_BALANCE_OFFSETS.buyer);
  data.set(listing.toBytes(), PER_QUERY_BALANCE_OFFSETS.listing);
  data.writeBigUInt64LE(lamports, PER_QUERY_BALANCE_OFFSETS.listing + 32);
  return data;
}

function put(address: PublicKey, data: Buffer, owner: PublicKey = MARKETPLACE_PROGRAM_ID): PublicKey {
  state.accounts.set(address.toBase58(), { data, owner, lamports: 1, executable: false });
  return address;
}

const newKey = () => Keypair.generate().publicKey;
const credentialAddress = (buyer: PublicKey) => findAccessCredentialAddress(buyer, listing).address;
const balanceAddress = (buyer: PublicKey) => findPerQueryBalanceAddress(buyer, listing).address;
const rentalOf = (buyer: PublicKey) => repository.findRental(buyer.toBase58(), listingId);

const cursor = () => repository.readCursor(MARKETPLACE_PROGRAM_ID.toBase58());
/** Begins the history with the transaction that the index has read last. */
async function atCursor(): Promise<string | undefined> {
  const last = await cursor();
  state.transactions.push({ signature: last ?? 'start', wrote: [] });
  return last;
}

/** Sessions of this database that wait for a lock. */
const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describe('the index', () => {
  it('takes in the same new account from two replicas at once', async () => {
    for (let round = 0; round < 200; round += 1) {
      const row = {
        address: newKey().toBase58(),
        listing_address: newKey().toBase58(),
        earnings_lamports: 1n,
        total_earned_lamports: 1n,
      };
      const applied = () => repository.apply([{ kind: 'escrow', row }], 5n, false);
      await Promise.all([applied(), applied(), applied()]);
    }
  });

  it('takes in a listing although another batch waits for it the other way round', async () => {
    const draft = async (creator: string) => {
      const id = newTestListingId();
      const address = findListingAddress(id).address.toBase58();
      await insertListing(database.db, { id, address, creator, status: 'draft', published_at: null });
      return { id, address };
    };
    const fields = {
      rental_model: 'per_query' as const,
      status: 'active' as const,
      price_lamports: 1n,
      min_deposit_lamports: 1n,
      metadata_uri: 'ipfs://x',
      created_at: new Date(),
    };
    /** Gives whether it was ours that was ended, and not the other batch. */
    const meet = async (): Promise<boolean> => {
      const creator = newKey().toBase58();
      const another = newKey().toBase58();
      const first = await draft(another);
      const last = await draft(creator);
      // Stored in the order of their addresses.
      const drafts = [await draft(creator), await draft(creator)];
      const mine = drafts.toSorted((one, two) => (one.address < two.address ? -1 : 1));
      await database.db
        .updateTable('listings')
        .set({ creator: another })
        .where('id', '=', mine[1]?.id ?? '')
        .execute();
      const other = await database.pool.connect();
      const publish = ({ id }: { id: string }) =>
        other.query(`update listings set status = 'active', published_at = now() where id = $1`, [id]);
      await other.query('begin');
      // It counts a listing for one creator; ours has counted one for the other, and waits to do the same.
      await publish(first);
      const applied = repository.apply(
        mine.map((each) => ({ kind: 'listing', ...each, fields })),
        5n,
        true,
      );
      await expect.poll(async () => (await database.pool.query(WAITING)).rowCount).toBe(1);
      // And now the other batch wants to count for the creator that ours has counted for.
      const ended = await publish(last).then(
        () => 'commit',
        (error: { code?: string }) => {
          expect(error.code).toBe('40P01');
          return 'rollback';
        },
      );
      await other.query(ended);
      other.release();
      await applied;
      const ids = mine.map(({ id }) => id);
      const listings = database.db.selectFrom('listings').select('status').where('id', 'in', ids);
      expect(await listings.execute()).toEqual([{ status: 'active' }, { status: 'active' }]);
      return ended === 'commit';
    };
    // PostgreSQL ends a transaction that has waited for a second in a deadlock: ours, unless the machine is busy.
    while (!(await meet()));
  });

  it('takes accounts of the program at their own addresses', async () => {
    const buyer = newKey();
    await indexer.indexAccounts([
      put(credentialAddress(buyer), credentialBytes(buyer)),
      put(balanceAddress(buyer), balanceBytes(buyer, 7_000_000_000_000_000n)),
    ]);
    expect(await rentalOf(buyer)).toMatchObject({
      address: credentialAddress(buyer).toBase58(),
      listing_id: listingId,
      rental_model: 'per_query',
      valid: true,
      balance_lamports: 7_000_000_000_000_000n,
    });
  });

  it('ignores our bytes in an account of another program, or at an address that is not derived from them [CRD-30]', async () => {
    const buyer = newKey();
    const other = newKey();
    await indexer.indexAccounts([
      put(credentialAddress(buyer), credentialBytes(buyer), newKey()),
      put(newKey(), credentialBytes(buyer)),
      put(credentialAddress(other), credentialBytes(buyer)),
      put(newKey(), balanceBytes(buyer, 1n)),
      put(balanceAddress(other), balanceBytes(buyer, 1n)),
    ]);
    expect(await rentalOf(buyer)).toBeUndefined();
    expect(await rentalOf(other)).toBeUndefined();
    const balances = database.db.selectFrom('balances').where('buyer', '=', buyer.toBase58());
    expect(await balances.selectAll().execute()).toEqual([]);
  });

  it('ignores accounts that are closed, empty or of another kind [CRD-30]', async () => {
    const buyer = newKey();
    await indexer.indexAccounts([
      credentialAddress(buyer),
      put(newKey(), Buffer.alloc(0)),
      put(newKey(), Buffer.alloc(500, 7)),
      put(newKey(), bytesOf('Escrow')),
    ]);
    expect(await rentalOf(buyer)).toBeUndefined();
  });

  it('never lets an older read replace a newer one, in whatever order they come [CRD-30]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ slot: fc.bigInt(0n, 50n), lamports: fc.bigInt(0n, 1000n) }), {
          minLength: 1,
          maxLength: 8,
        }),
        async (reads) => {
          const buyer = newKey();
          put(credentialAddress(buyer), credentialBytes(buyer));
          let newest = reads[0];
          await indexer.indexAccounts([credentialAddress(buyer)]);
          for (const read of reads) {
            state.slot = read.slot;
            await indexer.indexAccounts([put(balanceAddress(buyer), balanceBytes(buyer, read.lamports))]);
            if (newest && read.slot >= newest.slot) newest = read;
          }
          expect((await rentalOf(buyer))?.balance_lamports).toBe(newest?.lamports);
        },
      ),
      { seed: 3, numRuns: 30 },
    );
  });

  it('does not bring back a revoked credential by an older read [CRD-30]', async () => {
    const buyer = newKey();
    for (const [slot, isValid] of [
      [20n, false],
      [19n, true],
    ] as const) {
      state.slot = slot;
      await indexer.indexAccounts([put(credentialAddress(buyer), credentialBytes(buyer, isValid))]);
    }
    expect((await rentalOf(buyer))?.valid).toBe(false);
  });

  it('waits for a transaction that the node lists but does not have yet', async () => {
    const buyer = newKey();
    const before = await atCursor();
    const late = { signature: 'late', wrote: null as PublicKey[] | null };
    state.transactions.push(late as (typeof state.transactions)[number]);
    await indexer.catchUp();
    expect(await cursor()).toBe(before);
    late.wrote = [put(credentialAddress(buyer), credentialBytes(buyer))];
    await indexer.catchUp();
    expect(await rentalOf(buyer)).toBeDefined();
    expect(await cursor()).toBe('late');
  });

  it('catches up over more transactions than one page has, and goes on where it was [CRD-30]', async () => {
    const buyers = [newKey(), newKey(), newKey()] as const;
    const wrote = (buyer: PublicKey) => [put(credentialAddress(buyer), credentialBytes(buyer))];
    await atCursor();
    state.transactions.push({ signature: 'first', wrote: wrote(buyers[0]) });
    for (let index = 0; index < 1500; index += 1) {
      state.transactions.push({ signature: `other-${index}`, wrote: [] });
    }
    state.transactions.push({ signature: 'last', wrote: wrote(buyers[1]) });
    await indexer.catchUp();
    expect(await rentalOf(buyers[0])).toBeDefined();
    expect(await rentalOf(buyers[1])).toBeDefined();
    expect(await cursor()).toBe('last');
    state.transactions.push({ signature: 'new', wrote: wrote(buyers[2]) });
    await indexer.catchUp();
    expect(await rentalOf(buyers[2])).toBeDefined();
    expect(await cursor()).toBe('new');
  });

  it('does not read the transactions of own charges, and waits for accounts that are as new', async () => {
    const buyer = newKey();
    const address = balanceAddress(buyer);
    const read: string[] = [];
    const watched = {
      ...chain,
      changedAccounts: async (signature: string) => {
        read.push(signature);
        return chain.changedAccounts(signature);
      },
      // The list comes of an endpoint that is a slot ahead of the one that has the accounts.
      signaturesAfter: async (...page: [string | undefined, string | undefined]) =>
        (await chain.signaturesAfter(...page)).map((each) => ({ ...each, slot: ahead })),
    } as Chain;
    let ahead = 11n;
    await atCursor();
    state.transactions.push({ signature: 'own', wrote: [address] });
    put(credentialAddress(buyer), credentialBytes(buyer));
    await indexer.indexAccounts([credentialAddress(buyer)]);
    put(address, balanceBytes(buyer, 5n));
    const following = createIndexer(watched, repository, createLogger('silent'), 1000, {
      ownCharges: async (signatures) =>
        new Map(signatures.filter((each) => each === 'own').map((each) => [each, [address]])),
    });
    await following.catchUp();
    put(address, balanceBytes(buyer, 3n));
    state.slot = ahead;
    await following.catchUp();
    expect((await rentalOf(buyer))?.balance_lamports).toBe(3n);
    expect(read).toEqual([]);
    // It is known now.
    ahead = 12n;
    put(address, balanceBytes(buyer, 1n));
    await following.catchUp();
    expect((await rentalOf(buyer))?.balance_lamports).toBe(3n);
  });
});

it('the charge window is stored so that the database reads it bit by bit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.bigInt(0n, 2n ** 256n - 1n), async (window) => {
      const bytes = windowBytes(window);
      expect(bytes).toHaveLength(32);
      const { rows } = await sql<{ bits: string }>`
        select string_agg(get_bit(${bytes}::bytea, age)::text, '' order by age desc) as bits
        from generate_series(0, 255) as age`.execute(database.db);
      expect(BigInt(`0b${rows[0]?.bits}`)).toBe(window);
    }),
    { seed: 4, numRuns: 50 },
  );
  expect(windowBytes(1n)[0]).toBe(1);
});
