import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain } from '@agent-rental/local-chain';
import {
  closeListing,
  createListing,
  findAccessCredentialAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  initializeProtocol,
  MARKETPLACE_PROGRAM_ID,
  purchasePerQuery,
  revokePerQueryAccess,
  topupBalance,
  updateListing,
} from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  SystemProgram,
  Transaction,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createChain, createProgramHistory, type Chain } from '../chain/index.js';
import { createLogger } from '../platform/logger.js';
import { insertListing, openTestDatabase } from '../testing/index.js';
import { createIndexer, type Indexer } from './indexer.js';
import { createCredentialRepository } from './repository.js';

const PRICE = 1_000_000n;
const DEPOSIT = 10_000_000n;
const PROGRAM = MARKETPLACE_PROGRAM_ID.toBase58();
/** Beyond it a slot is final. */
const FINALIZED_AFTER_SLOTS = 33;

let indexer: Indexer;
let listingId: string;
let creator: Keypair;
let buyer: Keypair;
const [upgradeAuthority, admin, authority, treasury] = [0, 1, 2, 3].map(() => Keypair.generate()) as [
  Keypair,
  Keypair,
  Keypair,
  Keypair,
];

const folder = await mkdtemp(join(tmpdir(), 'indexer-'));
// Long slots: nothing becomes final until a test says so.
const localChain = await startLocalChain({
  stateDir: folder,
  rpcPort: 0,
  testHooks: true,
  slotTimeMs: 60_000,
  programs: [
    {
      programId: PROGRAM,
      soPath: marketplaceSoPath(),
      upgradeAuthority: upgradeAuthority.publicKey.toBase58(),
    },
  ],
});
const connection = new Connection(localChain.rpcUrl, 'confirmed');
const chain = createChain(localChain.rpcUrl, MARKETPLACE_PROGRAM_ID);
const database = await openTestDatabase();
const repository = createCredentialRepository(database.db);
for (const wallet of [upgradeAuthority, admin, authority, treasury]) await fund(wallet.publicKey);
const roles = { admin: admin.publicKey, authority: authority.publicKey, treasury: treasury.publicKey };
await send(
  [initializeProtocol({ upgradeAuthority: upgradeAuthority.publicKey, ...roles })],
  [upgradeAuthority],
);
afterAll(async () => {
  await localChain.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  [creator, buyer] = [Keypair.generate(), Keypair.generate()];
  await fund(creator.publicKey);
  await fund(buyer.publicKey);
  ({ id: listingId } = await insertListing(database.db, { status: 'draft', published_at: null }));
  await send([listing(listingId)], [creator, authority]);
  await finalize();
  indexer = newIndexer();
  await indexer.catchUp();
});

const newIndexer = (): Indexer => createIndexer(chain, repository, createLogger('silent'), 1000);

async function fund(address: PublicKey): Promise<void> {
  await connection.requestAirdrop(address, 10 * LAMPORTS_PER_SOL);
}

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

async function hook(method: string, params: object): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [params] });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(localChain.rpcUrl, { method: 'POST', headers, body });
  expect(await answer.json()).not.toHaveProperty('error');
}

const finalize = () => hook('localchain_warp', { slots: FINALIZED_AFTER_SLOTS });
const drop = (...dropSignatures: string[]) => hook('localchain_fork', { dropSignatures });

const listing = (id: string) =>
  createListing({
    creator: creator.publicKey,
    authority: authority.publicKey,
    listingId: id,
    rentalModel: 'per_query',
    priceLamports: PRICE,
    minDepositLamports: PRICE,
    metadataUri: 'ipfs://test',
  });
const purchase = (depositLamports = DEPOSIT) =>
  purchasePerQuery({
    buyer: buyer.publicKey,
    listingId,
    depositLamports,
    maxPriceLamports: PRICE,
  });
const revocation = () =>
  revokePerQueryAccess({ revoker: creator.publicKey, buyer: buyer.publicKey, listingId });

const rental = () => repository.findRental(buyer.publicKey.toBase58(), listingId);
const listingRow = (id = listingId) =>
  database.db.selectFrom('listings').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const cursor = () => repository.readCursor(PROGRAM);
const unfinalized = () => database.db.selectFrom('unfinalized_accounts').selectAll().execute();

describe('the index, on a chain that forks', () => {
  it('shows a confirmed rental at once, and it stays when it is final [CRD-30]', async () => {
    await send([purchase()], [buyer]);
    await indexer.catchUp();
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
    expect(await unfinalized()).not.toEqual([]);
    await finalize();
    await indexer.catchUp();
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
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
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
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
      expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
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
    const published = await send([listing(id)], [creator, authority]);
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
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
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
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
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
  const history = () => createProgramHistory(localChain.rpcUrl, MARKETPLACE_PROGRAM_ID);
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
    await database.db.deleteFrom('credentials').execute();
    await database.db.deleteFrom('balances').execute();
    await database.db.deleteFrom('escrows').execute();
    const { indexer: started, read } = counting();
    await started.catchUp();
    expect(read()).toBe(0);
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
    expect(await listingRow()).toMatchObject({ status: 'active', price_lamports: PRICE });
    const { address } = await database.db
      .selectFrom('escrows')
      .selectAll()
      .where('listing_address', '=', findListingAddress(listingId).address.toBase58())
      .executeTakeFirstOrThrow();
    expect(address).toBeTruthy();
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
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
    await drop(dropped);
    await started.catchUp();
    expect(await rental()).toBeUndefined();
  });

  it('removes accounts that are gone from the chain', async () => {
    await send([purchase()], [buyer]);
    await finalize();
    await indexer.catchUp();
    await finalize();
    await indexer.catchUp();
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
    expect(await rental()).toMatchObject({ valid: true, balance_lamports: DEPOSIT });
  });
});
