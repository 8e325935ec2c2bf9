import {
  createListing,
  findListingAddress,
  initializeProtocol,
  MARKETPLACE_PROGRAM_ID,
  purchasePerQuery,
} from '@agent-rental/program-client';
import { Connection, Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import {
  createChain,
  createKeypairSigner,
  createPriorityFees,
  createProtocolReader,
  type Chain,
} from '../../chain/index.js';
import { createCredentialRepository, createIndexer, type Indexer } from '../../credentials/index.js';
import type { Db } from '../../database/connection.js';
import { createDeadline } from '@agent-rental/contract';
import { createLogger } from '../../platform/logger.js';
import {
  createChargeRepository,
  createChargeSigner,
  createChargeStates,
  createCredits,
  createReconciler,
  createSettlement,
  type ReservedCharge,
  type Settlement,
} from '../../settlement/index.js';
import { balanceAddressOf, insertListing, insertRun, newTestListingId } from '../rows.js';

const SEND_TIMEOUT_MS = 20_000;
const NO_CAP = 10n ** 18n;

/** A chain that has the program, whose upgrade authority is as given, and where wallets get lamports for nothing. */
export interface FundedChain {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly upgradeAuthority: Keypair;
  fund(address: PublicKey, lamports: number): Promise<void>;
}

/** A listing of a market, as the database and the chain have it. */
export interface MarketListing {
  readonly id: string;
  readonly address: string;
  readonly versionId: string;
  readonly creator: Keypair;
}

/** The real settlement over a database and a chain with an initialized protocol. */
export interface ChargingMarket {
  readonly db: Db;
  readonly chain: Chain;
  readonly connection: Connection;
  readonly authorityKeypair: Keypair;
  readonly treasury: PublicKey;
  readonly indexer: Indexer;
  readonly charges: ReturnType<typeof createChargeRepository>;
  readonly states: ReturnType<typeof createChargeStates>;
  readonly signer: ReturnType<typeof createChargeSigner>;
  /** A new replica's settlement each time. Has at most so many charges in a transaction; absent: as many as fit. */
  settlement(maxChargesPerTransaction?: number): Settlement;
  reconcile(): Promise<void>;
  /** Sends instructions in one transaction, which the first signer pays. */
  send(instructions: TransactionInstruction[], ...signers: [Keypair, ...Keypair[]]): Promise<void>;
  newWallet(): Promise<Keypair>;
  list(priceLamports: bigint): Promise<MarketListing>;
  /** A renter who has prepaid, and whose balance is indexed. */
  rent(listing: MarketListing, depositLamports: bigint, maxPriceLamports: bigint): Promise<Keypair>;
  /** Reads a renter's balance account into the index. */
  index(listing: MarketListing, renter: PublicKey): Promise<void>;
  /** Records a run and sets its price aside, as the pipeline does. @throws ApiError */
  reserve(
    listing: MarketListing,
    renter: PublicKey,
    priceLamports: bigint,
    settlement?: Settlement,
  ): Promise<ReservedCharge>;
}

/** Initializes the protocol on the test's own chain, and composes the parts that charge runs there. */
export async function openChargingMarket(node: FundedChain, db: Db): Promise<ChargingMarket> {
  const connection = new Connection(node.rpcUrl, { commitment: 'confirmed', wsEndpoint: node.wsUrl });
  const chain = createChain(node.rpcUrl, MARKETPLACE_PROGRAM_ID);
  const logger = createLogger('silent');
  const funds = 100_000_000_000;
  const newWallet = async (): Promise<Keypair> => {
    const wallet = Keypair.generate();
    await node.fund(wallet.publicKey, funds);
    return wallet;
  };
  const [admin, authority, treasury] = [await newWallet(), await newWallet(), await newWallet()];
  await node.fund(node.upgradeAuthority.publicKey, funds);

  const send = async (instructions: TransactionInstruction[], ...signers: [Keypair, ...Keypair[]]) => {
    // Asked for each time: web3.js would remember one that has expired when the chain's time is moved.
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: signers[0].publicKey, blockhash, lastValidBlockHeight });
    transaction.add(...instructions).sign(...signers);
    const signature = await connection.sendRawTransaction(transaction.serialize());
    const deadline = createDeadline(SEND_TIMEOUT_MS);
    const status = await chain.waitForConfirmation(signature, lastValidBlockHeight, deadline.signal);
    deadline.clear();
    if (status === null || status.err) throw new Error(`A transaction failed: ${JSON.stringify(status)}`);
  };
  await send(
    [
      initializeProtocol({
        upgradeAuthority: node.upgradeAuthority.publicKey,
        admin: admin.publicKey,
        authority: authority.publicKey,
        treasury: treasury.publicKey,
      }),
    ],
    node.upgradeAuthority,
  );

  const charges = createChargeRepository(db);
  const states = createChargeStates(db, { unfinalizedCapLamports: NO_CAP });
  const credits = createCredits(db);
  const signer = createChargeSigner({
    chain,
    authority: createKeypairSigner(authority),
    protocol: createProtocolReader(chain),
    fees: createPriorityFees(chain, 0n),
  });
  const indexer = createIndexer(chain, createCredentialRepository(db), logger, 1_000);
  const settlementOf = (maxChargesPerTransaction?: number): Settlement =>
    createSettlement({
      chain,
      // A new one for each replica.
      charges: createChargeRepository(db),
      states,
      credits,
      signer,
      indexer,
      logger,
      ...(maxChargesPerTransaction === undefined ? {} : { maxChargesPerTransaction }),
    });
  const statusOf = async (id: string) =>
    (await db.selectFrom('runs').select('status').where('id', '=', id).executeTakeFirst())?.status;
  const reconciler = createReconciler({
    chain,
    charges,
    states,
    credits,
    signer,
    indexer,
    logger,
    runs: {
      paid: async (id) => (await statusOf(id)) === 'undelivered',
      unpaid: async () => undefined,
      settled: async () => undefined,
      wasUndelivered: async (id) => (await statusOf(id)) === 'undelivered',
    },
  });
  const standard = settlementOf();

  const index = (listing: MarketListing, renter: PublicKey) =>
    indexer.indexAccounts([new PublicKey(balanceAddressOf(renter.toBase58(), listing.address))]);

  return {
    db,
    chain,
    connection,
    authorityKeypair: authority,
    treasury: treasury.publicKey,
    indexer,
    charges,
    states,
    signer,
    settlement: settlementOf,
    reconcile: () => reconciler.reconcile('all'),
    send,
    newWallet,
    async list(priceLamports) {
      const creator = await newWallet();
      const id = newTestListingId();
      await send(
        [
          createListing({
            creator: creator.publicKey,
            authority: authority.publicKey,
            listingId: id,
            rentalModel: 'per_query',
            priceLamports,
            minDepositLamports: priceLamports,
            metadataUri: 'ipfs://test',
          }),
        ],
        creator,
        authority,
      );
      const row = await insertListing(db, {
        id,
        creator: creator.publicKey.toBase58(),
        price_lamports: priceLamports,
      });
      const address = findListingAddress(id).address;
      await indexer.indexAccounts([address]);
      return { id, address: address.toBase58(), versionId: row.version_id, creator };
    },
    async rent(listing, depositLamports, maxPriceLamports) {
      const renter = await newWallet();
      const purchase = purchasePerQuery({
        buyer: renter.publicKey,
        listingId: listing.id,
        depositLamports,
        maxPriceLamports,
      });
      await send([purchase], renter);
      await index(listing, renter.publicKey);
      return renter;
    },
    index,
    async reserve(listing, renter, priceLamports, settlement = standard) {
      const wallet = renter.toBase58();
      const runId = await insertRun(db, { id: listing.id, version_id: listing.versionId }, wallet);
      const reserved = await settlement.reserve({
        runId,
        wallet,
        listingId: listing.id,
        balanceAddress: balanceAddressOf(wallet, listing.address),
        priceLamports,
      });
      if (reserved === 'credited') throw new Error('This market credits no runs.');
      return reserved;
    },
  };
}
