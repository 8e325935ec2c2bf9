import {
  closeListing,
  findAccessCredentialAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  MARKETPLACE_PROGRAM_ID,
  purchasePerQuery,
  revokePerQueryAccess,
  topupBalance,
  updateListing,
  createListing,
} from '@agent-rental/program-client';
import {
  LAMPORTS_PER_SOL,
  SystemProgram,
  Transaction,
  type Keypair,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createProgramHistory, type Chain } from '../chain/index.js';
import { createLogger } from '../platform/logger.js';
import { insertListing, openTestDatabase, startTestMarket } from '../testing/index.js';
import { createIndexer, type Indexer } from './indexer.js';
import { createCredentialRepository } from './repository.js';

const PRICE = 1_000_000n;
const DEPOSIT = 10_000_000n;
const PROGRAM = MARKETPLACE_PROGRAM_ID.toBase58();

const database = await openTestDatabase();
afterAll(() => database.close());
// Nothing becomes final until a test says so.
const market = await startTestMarket(database);
afterAll(() => market.close());
const { chain, connection, drop, finalize } = market;
const repository = createCredentialRepository(database.db);

let indexer: Indexer;
let listingId: string;
let creator: Keypair;
let buyer: Keypair;
beforeEach(async () => {
  [creator, buyer] = [await market.newWallet(), await market.newWallet()];
  ({ id: listingId } = await insertListing(database.db, { status: 'draft', published_at: null }));
  await send([listing(listingId)], [creator, market.authorityKeypair]);
  await finalize();
  indexer = newIndexer();
  await indexer.catchUp();
});

const newIndexer = (): Indexer => createIndexer(chain, repository, createLogger('silent'), 1000);

/** Sends a transaction and does not wait for it; gives its signature. */
async function send(
  instructions: TransactionInstruction[],
  signers: Keypair[],
  skipPreflight = false,
): Promise<string> {
  // Asked for each time: web3.js would remember one that has expired when the chain is warped.
  const latest = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: signers[0]?.publicKey ?? null, ...latest });
  transaction.add(...instructions).sign(...signers);
  return connection.sendRawTransaction(transaction.serialize(), { skipPreflight });
}

const listing = (id: string) =>
  createListing({
    creator: creator.publicKey,
    authority: market.authorityKeypair.publicKey,
    listingId: id,
    rentalModel: 'per_query',
    priceLamports: PRICE,
    minDepositLamports: PRICE,
    metadataUri: 'ipfs://test',
  });
const purchase = (depositLamports = DEPOSIT) =>
  purchasePerQuery({ buyer: buyer.publicKey, listingId, depositLamports, maxPriceLamports: PRICE });
const revocation = () =>
  revokePerQueryAccess({ revoker: creator.publicKey, buyer: buyer.publicKey, listingId });

const rental = () => repository.findRental(buyer.publicKey.toBase58(), listingId);
const RENTED = { valid: true, balance_lamports: DEPOSIT };
const listingRow = (id = listingId) =>
  database.db.selectFrom('listings').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const cursor = () => repository.readCursor(PROGRAM);
const unfinalized = () => database.db.selectFrom('unfinalized_accounts').selectAll().execute();

describe('the index, on a chain that forks', () => {
  it('shows a confirmed rental at once, and it stays when it is final [CRD-30]', async () => {
    await send([purchase()], [buyer]);
    await indexer.catchUp();
    expect(await rental()).toMatchObject(RENTED);
    expect(await unfinalized()).not.toEqual([]);
    await finalize();
    await indexer.catchUp();
    expect(await rental()).toMatchObject(RENTED);
    expect(await unfinalized()).toEqual([]);
  });

  it('undoes a rental that a fork dropped, and takes it in again when it lands again [CRD-30]', async () => {
    const dropped = await send([purchase()], [buyer]);
    await indexer.catchUp();
    await drop(dropped);
    await indexer.catchUp();
    expect(await rental()).toBeUndefined();
    await finalize();
    await send([purchase()], [buyer]);
    await indexer.catchUp();
    expect(await rental()).toMatchObject(RENTED);
  });

  it('undoes a drop that happened while no server ran, once it is final [CRD-30]', async () => {
    const dropped = await send([purchase()], [buyer]);
    await indexer.catchUp();
    await drop(dropped);
    // A server that starts now never saw the transaction; nothing on the chain mentions it any more.
    const restarted = newIndexer();
    await restarted.catchUp();
    await finalize();
    await restarted.catchUp();
    expect(await rental()).toBeUndefined();
    expect(await unfinalized()).toEqual([]);
  });

  it('brings back the rental and balance that a dropped revoke had taken [CRD-30]', async () => {
    await send([purchase()], [buyer]);
    await finalize();
    await indexer.catchUp();
    for (const undoneBy of ['the server that saw it', 'another']) {
      const revoke = await send([revocation()], [creator]);
      await indexer.catchUp();
      expect(await rental()).toMatchObject({ valid: false, balance_lamports: null });
      await drop(revoke);
      if (undoneBy === 'another') {
        indexer = newIndexer();
        await finalize();
      }
      await indexer.catchUp();
      expect(await rental()).toMatchObject(RENTED);
    }
  });

  it('keeps the effect of a later transaction when an earlier one is dropped', async () => {
    await send([purchase()], [buyer]);
    await finalize();
    const topUp = (amountLamports: bigint) =>
      send(
        [topupBalance({ buyer: buyer.publicKey, listingId, amountLamports, maxPriceLamports: PRICE })],
        [buyer],
      );
    const dropped = await topUp(1_000_000n);
    await topUp(2_000_000n);
    await indexer.catchUp();
    expect((await rental())?.balance_lamports).toBe(DEPOSIT + 3_000_000n);
    await drop(dropped);
    await indexer.catchUp();
    expect((await rental())?.balance_lamports).toBe(DEPOSIT + 2_000_000n);
  });

  it('makes a listing a draft again when its publication is dropped [CRD-30]', async () => {
    const { id } = await insertListing(database.db, { status: 'draft', published_at: null });
    const published = await send([listing(id)], [creator, market.authorityKeypair]);
    await indexer.catchUp();
    expect(await listingRow(id)).toMatchObject({ status: 'active', price_lamports: PRICE });
    await drop(published);
    await indexer.catchUp();
    expect(await listingRow(id)).toMatchObject({ status: 'draft', published_at: null });
  });

  it('closes a gap: what happened while no server ran is there after the next start [CRD-30]', async () => {
    const rent = await send([purchase()], [buyer]);
    await send(
      [updateListing({ creator: creator.publicKey, listingId, priceLamports: PRICE / 2n, status: 'paused' })],
      [creator],
    );
    await finalize();
    await newIndexer().catchUp();
    expect(await rental()).toMatchObject(RENTED);
    expect(await listingRow()).toMatchObject({ status: 'paused', price_lamports: PRICE / 2n });
    expect(await cursor()).not.toBe(rent);
    await send([closeListing({ creator: creator.publicKey, listingId })], [creator]);
    await newIndexer().catchUp();
    expect(await listingRow()).toMatchObject({ status: 'closed' });
  });

  it('keeps its cursor on finalized transactions, so that no restart begins on a dropped one [CRD-30]', async () => {
    const before = await cursor();
    const rent = await send([purchase()], [buyer]);
    await indexer.catchUp();
    expect(await cursor()).toBe(before);
    await finalize();
    await indexer.catchUp();
    expect(await cursor()).toBe(rent);
  });

  it('is the same however often and by however many servers it is brought up to date', async () => {
    await send([purchase()], [buyer]);
    const contents = async () => ({
      rental: await rental(),
      listing: { ...(await listingRow()), slot: null, updated_at: null },
    });
    await indexer.catchUp();
    const once = await contents();
    await Promise.all([indexer, newIndexer(), newIndexer()].map((each) => each.catchUp()));
    await indexer.catchUp();
    expect(await contents()).toEqual(once);
  });
});

describe('the index, among the transactions of others', () => {
  it('is not moved by lamports sent to the addresses of a rental, nor by naming them beside the program [CRD-30]', async () => {
    const address = findListingAddress(listingId).address;
    const credential = findAccessCredentialAddress(buyer.publicKey, address).address;
    const balance = findPerQueryBalanceAddress(buyer.publicKey, address).address;
    const gift = (to: PublicKey): TransactionInstruction => {
      const transfer = SystemProgram.transfer({
        fromPubkey: creator.publicKey,
        toPubkey: to,
        lamports: LAMPORTS_PER_SOL / 10,
      });
      transfer.keys.push({ pubkey: MARKETPLACE_PROGRAM_ID, isSigner: false, isWritable: false });
      return transfer;
    };
    const foreign = await send([gift(credential), gift(balance)], [creator]);
    expect(await chain.changedAccounts(foreign)).toEqual([]);
    await indexer.catchUp();
    await indexer.indexAccounts([credential, balance]);
    expect(await rental()).toBeUndefined();

    // The rental itself works on prefunded addresses.
    await send([purchase()], [buyer]);
    await indexer.catchUp();
    expect(await rental()).toMatchObject(RENTED);
  });

  it('learns nothing from a transaction of the program that failed', async () => {
    await send([purchase()], [buyer]);
    const failed = await send([purchase(2n * DEPOSIT)], [buyer], true);
    expect((await connection.getSignatureStatus(failed)).value?.err).not.toBeNull();
    expect(await chain.changedAccounts(failed)).toEqual([]);
    await indexer.catchUp();
    expect(await rental()).toMatchObject({ balance_lamports: DEPOSIT });
  });
});

describe('the index, where it knows no place in the history', () => {
  const history = () => createProgramHistory(connection.rpcEndpoint, MARKETPLACE_PROGRAM_ID);
  /** An indexer that takes a snapshot, and how many transactions it has read. */
  function counting() {
    let read = 0;
    const watched: Chain = {
      ...chain,
      changedAccounts: (signature) => {
        read += 1;
        return chain.changedAccounts(signature);
      },
    };
    const made = createIndexer(watched, repository, createLogger('silent'), 1000, { history: history() });
    return { indexer: made, read: () => read };
  }
  const forget = () => database.db.deleteFrom('index_cursor').execute();

  it('takes in all accounts at once, without reading a final transaction, and follows from there [CRD-30]', async () => {
    await send([purchase()], [buyer]);
    await finalize();
    await forget();
    for (const table of ['credentials', 'balances', 'escrows'] as const) {
      await database.db.deleteFrom(table).execute();
    }
    const { indexer: started, read } = counting();
    await started.catchUp();
    expect(read()).toBe(0);
    expect(await rental()).toMatchObject(RENTED);
    expect(await listingRow()).toMatchObject({ status: 'active', price_lamports: PRICE });
    const escrows = database.db.selectFrom('escrows').select('listing_address');
    expect(await escrows.execute()).toContainEqual({
      listing_address: findListingAddress(listingId).address.toBase58(),
    });
    expect(await unfinalized()).toEqual([]);
    await send([revocation()], [creator]);
    await started.catchUp();
    expect(read()).toBe(1);
    expect(await rental()).toMatchObject({ valid: false, balance_lamports: null });
  });

  it('follows confirmed changes that are not final when the snapshot is taken [CRD-30]', async () => {
    await forget();
    const dropped = await send([purchase()], [buyer]);
    const { indexer: started, read } = counting();
    await started.catchUp();
    expect(read()).toBe(1);
    expect(await rental()).toMatchObject(RENTED);
    await drop(dropped);
    await started.catchUp();
    expect(await rental()).toBeUndefined();
  });

  it('removes accounts that are gone from the chain', async () => {
    await send([purchase()], [buyer]);
    for (const _ of ['confirmed', 'final']) {
      await finalize();
      await indexer.catchUp();
    }
    expect(await unfinalized()).toEqual([]);
    await send([revocation()], [creator]);
    await finalize();
    await forget();
    const { indexer: started, read } = counting();
    await started.catchUp();
    expect(read()).toBe(0);
    expect(await rental()).toMatchObject({ valid: false, balance_lamports: null });
  });

  it('reads the transactions where an endpoint does not list accounts', async () => {
    await send([purchase()], [buyer]);
    await finalize();
    await forget();
    await database.db.deleteFrom('credentials').execute();
    const refusing = {
      ...history(),
      accounts: () => {
        throw new Error('getProgramAccounts is disabled.');
      },
    };
    const started = createIndexer(chain, repository, createLogger('silent'), 1000, { history: refusing });
    await started.catchUp();
    expect(await rental()).toMatchObject(RENTED);
  });
});
