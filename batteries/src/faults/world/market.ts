import { randomBytes } from 'node:crypto';
import type { LocalChain } from '@agent-rental/local-chain';
import {
  findAccessCredentialAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner, publish, rent } from '@agent-rental/sdk/solana';
import { openEmptyDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import { until } from '@agent-rental/test/support/busy-marketplace';
import { newStateDir, removeStateDir } from '@agent-rental/test/support/marketplace';
import { newRenter, type Renter } from '@agent-rental/test/support/renter';
import { PublicKey, type Connection, type Keypair } from '@solana/web3.js';
import { startFaultAgent, type FaultAgent } from './agent.js';
import { openChain } from '@agent-rental/test/support/replicas/market-chain';
import { Lanes } from './lanes.js';
import { startPostgresProxy, type PostgresProxy } from '../proxies/postgres-proxy.js';
import { startRpcProxy, type RpcProxy } from '../proxies/rpc-proxy.js';
import { Servers, type FaultServer, type StartingServer } from './servers.js';

/** Price of a run, in lamports. */
export const RUN_PRICE = 250_000n;
/** Runs that a renter pays for in advance. */
const DEPOSIT_RUNS = 6n;
/** Beyond the blocks within which a transaction can land, and those after which none is taken back. */
const SLOTS_UNTIL_FINAL = 220;

/** A listing, and what its rows and accounts are known by. */
export interface Listing {
  readonly id: string;
  readonly versionId: string;
  readonly address: PublicKey;
  readonly creator: Keypair;
}

/** A wallet that has rented one listing. */
export interface Rental {
  readonly renter: Renter;
  readonly listing: Listing;
  readonly wallet: string;
  readonly balanceAddress: PublicKey;
  readonly depositLamports: bigint;
  /** A key of the wallet that has a daily limit. */
  apiKey?: string;
}

/**
 * A marketplace whose server can be killed and disturbed at every step: PostgreSQL and the chain are there for as long as
 * the battery, and the server reaches both through proxies.
 */
export class FaultMarket {
  readonly chain: LocalChain;
  readonly connection: Connection;
  readonly database: TemporaryDatabase;
  readonly agent: FaultAgent;
  readonly lanes: Lanes;
  readonly postgres: PostgresProxy;
  readonly rpc: RpcProxy;
  readonly treasury: PublicKey;
  /** All of them, whose payments the listings and the treasury have. */
  readonly rentals: Rental[] = [];
  readonly #servers: Servers;
  readonly #stateDir: string;
  #server: FaultServer | undefined;

  private constructor(parts: {
    chain: LocalChain;
    connection: Connection;
    database: TemporaryDatabase;
    agent: FaultAgent;
    lanes: Lanes;
    postgres: PostgresProxy;
    rpc: RpcProxy;
    treasury: PublicKey;
    servers: Servers;
    stateDir: string;
  }) {
    this.chain = parts.chain;
    this.connection = parts.connection;
    this.database = parts.database;
    this.agent = parts.agent;
    this.lanes = parts.lanes;
    this.postgres = parts.postgres;
    this.rpc = parts.rpc;
    this.treasury = parts.treasury;
    this.#servers = parts.servers;
    this.#stateDir = parts.stateDir;
  }

  /**
   * Opens it, with a server that runs, on a database of its own or a given one, which it closes.
   *
   * @param environment of the server, beside the usual one
   */
  static async open(
    openDatabase: () => Promise<TemporaryDatabase> = openEmptyDatabase,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<FaultMarket> {
    const stateDir = await newStateDir();
    const [{ chain, connection, authorityFile, treasury }, database, agent] = await Promise.all([
      openChain(stateDir),
      openDatabase(),
      startFaultAgent(),
    ]);
    const lanes = new Lanes();
    const postgres = await startPostgresProxy(database.url, lanes);
    const rpc = await startRpcProxy(chain.rpcUrl, lanes);
    const servers = new Servers({
      agentOrigin: agent.origin,
      env: {
        STATE_DIR: stateDir,
        PORT: '0',
        DATABASE_URL: postgres.url,
        SOLANA_RPC_URLS: rpc.url,
        SOLANA_NETWORK: 'localnet',
        AUTHORITY_KEYPAIR: authorityFile,
        MASTER_KEY: randomBytes(32).toString('base64'),
        REVIEW: 'automatic',
        LOG_LEVEL: 'warn',
        RATE_LIMIT_PER_MINUTE: '1000000',
        EXECUTIONS_PER_MINUTE: '1000000',
        RECONNECT_GRACE_SECONDS: '0',
        SANDBOX_POOL_SIZE: '1',
        ...environment,
      },
    });
    const parts = { chain, connection, database, agent, lanes, postgres, rpc, servers, stateDir };
    const market = new FaultMarket({ ...parts, treasury });
    await market.start();
    return market;
  }

  get server(): FaultServer {
    if (!this.#server) throw new Error('No server runs.');
    return this.#server;
  }

  /** For the support of the end-to-end tests. */
  get served() {
    return { dev: { base_url: this.server.baseUrl, rpc_url: this.chain.rpcUrl } };
  }

  async start(): Promise<FaultServer> {
    return (this.#server = await this.#servers.start().ready);
  }

  /** A start that may be ended by a fault; the caller says `took` once it is up. */
  starting(): StartingServer {
    return this.#servers.start();
  }

  took(server: FaultServer): void {
    this.#server = server;
  }

  /** Ends the server at once, and lets the time pass after which other replicas know that it is gone. */
  async kill(server: Pick<FaultServer, 'kill'> = this.server): Promise<void> {
    await server.kill();
    this.#server = undefined;
    await this.passLeases();
  }

  /** What time does to the leases of a server that is gone, to the age of its runs, and to its tasks. */
  async passLeases(): Promise<void> {
    for (const statement of [
      `update seats set expires_at = now() - interval '1 second'`,
      `update seat_line set expires_at = now() - interval '1 second'`,
      `update runs set created_at = created_at - interval '2 minutes' where status = 'running'`,
      `update graphile_worker._private_jobs set locked_at = locked_at - interval '1 hour' where locked_at is not null`,
    ]) {
      await this.query(statement);
    }
  }

  async query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.database.pool.query<T>(text, values)).rows;
  }

  /** Asks the chain what no cluster offers. */
  async hook<T>(method: string, parameter: object): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [parameter] });
    const headers = { 'content-type': 'application/json' };
    const ask = () => fetch(this.chain.rpcUrl, { method: 'POST', headers, body });
    const answer = await ask().catch(ask);
    const { result, error } = (await answer.json()) as { result: T; error?: unknown };
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  }

  /** Lets the chain go on until what is confirmed is final and what was not seen can land no more. */
  async finalize(): Promise<void> {
    await this.hook('localchain_warp', { slots: SLOTS_UNTIL_FINAL });
  }

  /** Puts Per-Task listings on sale, of one creator. */
  async publish(count: number): Promise<Listing[]> {
    const creator = await newRenter(this.served);
    const signer = keypairSigner(creator.wallet);
    const client = createClient({ baseUrl: this.server.baseUrl, signer });
    return Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const { job_id } = await client.registerAgent({
          name: `fault-agent-${index}`,
          category: 'research',
          description: 'Answers at once.',
          model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: this.agent.url },
          entrypoint_url: this.agent.url,
          input_schema: {},
          output_schema: { type: 'string' },
          listing: {
            rental_model: 'per_query',
            price_lamports: Number(RUN_PRICE),
            sample_output: ['A sample.'],
          },
        });
        const id = await until(async () => {
          const job = await client.getJob(job_id);
          if (job.status === 'failed') throw new Error(JSON.stringify(job.error));
          return job.result?.listing_id;
        });
        await publish(client, signer, id);
        const [version] = await this.query<{ id: string }>(
          'select id from agent_versions where listing_id = $1',
          [id],
        );
        return {
          id,
          versionId: version?.id ?? '',
          address: findListingAddress(id).address,
          creator: creator.wallet,
        };
      }),
    );
  }

  /** Makes a wallet that has rented a listing and paid in advance. */
  async rent(listing: Listing, runs: bigint = DEPOSIT_RUNS): Promise<Rental> {
    const renter = await newRenter(this.served);
    const signer = keypairSigner(renter.wallet);
    const client = createClient({ baseUrl: this.server.baseUrl, signer });
    const depositLamports = runs * RUN_PRICE;
    await rent(client, signer, listing.id, { deposit_lamports: Number(depositLamports) });
    const { publicKey } = renter.wallet;
    const balanceAddress = findPerQueryBalanceAddress(publicKey, listing.address).address;
    const rental = { renter, listing, wallet: publicKey.toBase58(), balanceAddress, depositLamports };
    this.rentals.push(rental);
    return rental;
  }

  /** Gives the wallet of a rental a key with a daily limit. */
  async giveKey(rental: Rental): Promise<void> {
    const signer = keypairSigner(rental.renter.wallet);
    const client = createClient({ baseUrl: this.server.baseUrl, signer });
    const policy = { max_day_lamports: Number(rental.depositLamports) };
    rental.apiKey = (await createApiKey(client, signer, 'limited', { policy })).key;
  }

  /** Rents for many wallets. */
  async rentAll(listings: readonly Listing[], runs?: bigint): Promise<Rental[]> {
    const rentals: Rental[] = [];
    const queue = listings.entries();
    await Promise.all(
      Array.from({ length: RENTING_AT_ONCE }, async () => {
        for (const [index, listing] of queue) rentals[index] = await this.rent(listing, runs);
      }),
    );
    return rentals;
  }

  /** The texts that steps of this rental's runs hold. */
  tokensOf({ wallet, balanceAddress, listing }: Rental): string[] {
    const credential = findAccessCredentialAddress(new PublicKey(wallet), listing.address).address;
    return [wallet, balanceAddress.toBase58(), credential.toBase58(), listing.id, listing.versionId];
  }

  async close(): Promise<void> {
    await this.#servers.close();
    await Promise.all([this.postgres.close(), this.rpc.close(), this.agent.close(), this.chain.close()]);
    await this.database.close();
    await removeStateDir(this.#stateDir);
  }
}

const RENTING_AT_ONCE = 6;
