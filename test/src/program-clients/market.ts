import { createHash } from 'node:crypto';
import {
  consumeQuery,
  createListing,
  decodeAccessCredential,
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  decodeProtocol,
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  findProtocolAddress,
  initializeProtocol,
  purchasePerQuery,
  verifyAccess,
  type RentalModel,
} from '@agent-rental/program-client';
import { Keypair, SYSVAR_CLOCK_PUBKEY, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { TestChain, TestChainKind } from './chains/test-chain.js';
import { closeWebsocket } from './chains/web3-websocket.js';
import { TransactionSender, type Outcome } from './transaction-sender.js';

/** What every wallet begins with: 100 SOL. */
export const FUNDS_LAMPORTS = 100_000_000_000n;

/** The price of the listings that tests create. */
export const PRICE = 1_000_000n;
/** The protocol's part of {@link PRICE}: 2.5%. */
export const FEE = 25_000n;
/** The first deposit that tests make. */
export const DEPOSIT = 10_000_000n;

const UNIX_TIMESTAMP_OFFSET = 32;

/** A key pair that is the same in every run and on every chain, so that addresses and bytes can be compared. */
function keypairOf(name: string): Keypair {
  return Keypair.fromSeed(createHash('sha256').update(`program-clients: ${name}`).digest());
}

/** An initialised protocol on a new chain, and the wallets that deal there. */
export class Market {
  readonly chain: TestChain;
  readonly sender: TransactionSender;
  readonly upgradeAuthority: Keypair;
  readonly admin = keypairOf('admin');
  readonly authority = keypairOf('authority');
  readonly treasury = keypairOf('treasury');
  readonly creator = keypairOf('creator');
  readonly buyer = keypairOf('buyer');
  readonly #wallets = new Map<string, Keypair>();

  private constructor(chain: TestChain, upgradeAuthority: Keypair) {
    this.chain = chain;
    this.sender = new TransactionSender(chain);
    this.upgradeAuthority = upgradeAuthority;
  }

  /** Starts a chain on which the parties have funds and the protocol is not initialised. */
  static async open(kind: TestChainKind): Promise<Market> {
    const upgradeAuthority = keypairOf('upgrade authority');
    const market = new Market(await kind.start(upgradeAuthority), upgradeAuthority);
    try {
      for (const name of ['upgrade authority', 'admin', 'authority', 'treasury', 'creator', 'buyer']) {
        await market.wallet(name);
      }
    } catch (error) {
      await market.close();
      throw error;
    }
    return market;
  }

  /** Starts a chain with an initialised protocol. */
  static async start(kind: TestChainKind): Promise<Market> {
    const market = await Market.open(kind);
    await market.send(market.initialization(), market.upgradeAuthority);
    return market;
  }

  /** The instruction that initialises the protocol with its default fee. */
  initialization(upgradeAuthority = this.upgradeAuthority): TransactionInstruction {
    return initializeProtocol({
      upgradeAuthority: upgradeAuthority.publicKey,
      admin: this.admin.publicKey,
      authority: this.authority.publicKey,
      treasury: this.treasury.publicKey,
    });
  }

  /** A funded wallet. */
  async wallet(name: string): Promise<Keypair> {
    const known = this.#wallets.get(name);
    if (known !== undefined) {
      return known;
    }
    const wallet = keypairOf(name);
    await this.chain.airdrop(wallet.publicKey, FUNDS_LAMPORTS);
    this.#wallets.set(name, wallet);
    return wallet;
  }

  /** Sends one instruction; the first signer pays the fee. Fails the test unless it succeeds. */
  send(instruction: TransactionInstruction, ...signers: [Keypair, ...Keypair[]]): Promise<Outcome> {
    return this.sender.succeed([instruction], signers);
  }

  /** Expects the refusal of an instruction, in preflight and on the chain. Returns the name of the program's error. */
  refusal(instruction: TransactionInstruction, ...signers: [Keypair, ...Keypair[]]): Promise<string> {
    return this.sender.refusal([instruction], signers);
  }

  /** Creates a listing at {@link PRICE} and gives its id. */
  async list(listingId: string, rentalModel: RentalModel): Promise<string> {
    const instruction = createListing({
      creator: this.creator.publicKey,
      authority: this.authority.publicKey,
      listingId,
      rentalModel,
      priceLamports: PRICE,
      minDepositLamports: PRICE,
      metadataUri: 'ipfs://bafyexample',
    });
    await this.send(instruction, this.creator, this.authority);
    return listingId;
  }

  /** Creates a Per-Task listing on which a buyer has prepaid. */
  async prepaid(listingId: string, buyer = this.buyer, depositLamports = DEPOSIT): Promise<string> {
    await this.list(listingId, 'per_query');
    const purchase = purchasePerQuery({
      buyer: buyer.publicKey,
      listingId,
      depositLamports,
      maxPriceLamports: PRICE,
    });
    await this.send(purchase, buyer);
    return listingId;
  }

  /** The instruction that charges one run. */
  charge(
    listingId: string,
    sequence: bigint,
    {
      buyer = this.buyer,
      authority = this.authority,
      runId = new Uint8Array(16).fill(1),
      priceLamports = PRICE,
    } = {},
  ): TransactionInstruction {
    return consumeQuery({
      authority: authority.publicKey,
      buyer: buyer.publicKey,
      listingId,
      treasury: this.treasury.publicKey,
      sequence,
      runId,
      priceLamports,
    });
  }

  /** The answer of `verify_access` to a caller without a key. */
  async hasAccess(listingId: string, buyer = this.buyer.publicKey): Promise<boolean> {
    const payer = this.treasury.publicKey;
    const answer = await this.sender.simulate(verifyAccess({ buyer, listingId }), payer);
    if (answer.err !== null || answer.returnData.length !== 1) {
      throw new Error(`verify_access failed:\n${answer.logs.join('\n')}`);
    }
    return answer.returnData[0] === 1;
  }

  /** The chain's time in Unix seconds. */
  async now(): Promise<bigint> {
    return (await this.#data(SYSVAR_CLOCK_PUBKEY)).readBigInt64LE(UNIX_TIMESTAMP_OFFSET);
  }

  addresses(listingId: string, buyer = this.buyer.publicKey) {
    const listing = findListingAddress(listingId).address;
    return {
      protocol: findProtocolAddress().address,
      listing,
      escrow: findEscrowAddress(listing).address,
      credential: findAccessCredentialAddress(buyer, listing).address,
      balance: findPerQueryBalanceAddress(buyer, listing).address,
    };
  }

  async protocol() {
    return decodeProtocol(await this.#data(findProtocolAddress().address));
  }

  async listing(listingId: string) {
    return decodeListing(await this.#data(this.addresses(listingId).listing));
  }

  async escrow(listingId: string) {
    return decodeEscrow(await this.#data(this.addresses(listingId).escrow));
  }

  async credential(listingId: string, buyer = this.buyer.publicKey) {
    return decodeAccessCredential(await this.#data(this.addresses(listingId, buyer).credential));
  }

  async balance(listingId: string, buyer = this.buyer.publicKey) {
    return decodePerQueryBalance(await this.#data(this.addresses(listingId, buyer).balance));
  }

  async lamports(of: PublicKey): Promise<bigint> {
    return BigInt(await this.chain.connection.getBalance(of));
  }

  async exists(address: PublicKey): Promise<boolean> {
    return (await this.chain.connection.getAccountInfo(address)) !== null;
  }

  /** The lamports of every wallet that dealt here, by its name. */
  async walletLamports(): Promise<Record<string, bigint>> {
    const wallets = [...this.#wallets];
    const lamports = await Promise.all(wallets.map(([, { publicKey }]) => this.lamports(publicKey)));
    return Object.fromEntries(wallets.map(([name], index) => [name, lamports[index] ?? 0n]));
  }

  async close(): Promise<void> {
    closeWebsocket(this.chain.connection);
    await this.chain.close();
  }

  async #data(address: PublicKey): Promise<Buffer> {
    const account = await this.chain.connection.getAccountInfo(address);
    if (account === null) {
      throw new Error(`No account ${address.toBase58()}`);
    }
    return account.data;
  }
}
