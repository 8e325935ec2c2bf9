import type { LocalChain } from '@agent-rental/local-chain';
import { findAccessCredentialAddress } from '@agent-rental/program-client';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner } from '@agent-rental/sdk/solana';
import { openEmptyDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import {
  rentListing,
  sellAgent,
  type Rental as PaidRental,
  type SoldListing,
} from '@agent-rental/test/support/agents/market-agents';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { newStateDir, removeStateDir } from '@agent-rental/test/support/marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { PublicKey, type Connection } from '@solana/web3.js';
import { startFaultAgent, type FaultAgent } from './agent.js';
import { serverEnvironment } from './environment.js';
import {
  askChain,
  BATTERY_CONSENSUS,
  finalizeChain,
  openChain,
} from '@agent-rental/test/support/replicas/market-chain';
import { Lanes } from './lanes.js';
import { startPostgresProxy } from '../proxies/postgres-proxy.js';
import { startRpcProxy } from '../proxies/rpc-proxy.js';
import { Servers, type FaultServer } from './servers.js';

export const RUN_PRICE = 250_000n;
const DEPOSIT_RUNS = 6n;

export interface Listing extends SoldListing {
  readonly versionId: string;
}

export interface Rental extends PaidRental<Listing> {
  /** A key of the wallet that has a daily limit. */
  apiKey?: string;
}

type Chain = 'chain' | 'connection' | 'treasury' | 'rpc';
type MarketParts = Pick<FaultMarket, Chain | 'database' | 'postgres' | 'agent' | 'lanes'>;

/**
 * A marketplace whose server can be killed and disturbed at every step. PostgreSQL and the chain run for the whole battery, and
 * the server reaches both through proxies.
 */
export class FaultMarket {
  declare readonly chain: LocalChain;
  declare readonly connection: Connection;
  declare readonly database: TemporaryDatabase;
  declare readonly agent: FaultAgent;
  declare readonly lanes: Lanes;
  declare readonly postgres: Awaited<ReturnType<typeof startPostgresProxy>>;
  declare readonly rpc: Awaited<ReturnType<typeof startRpcProxy>>;
  declare readonly treasury: PublicKey;
  /** All rentals, for the audit of the listings and the treasury. */
  readonly rentals: Rental[] = [];
  readonly #servers: Servers;
  #server: FaultServer | undefined;

  private constructor(parts: MarketParts, servers: Servers) {
    Object.assign(this, parts);
    this.#servers = servers;
  }

  /**
   * Opens a market with a running server, does the work, and closes the market.
   *
   * @param openDatabase opens the market's database. Default: an empty one.
   * @param environment further environment variables of the server
   * @param consensus of the chain
   */
  static async use<T>(
    work: (market: FaultMarket) => Promise<T>,
    openDatabase: () => Promise<TemporaryDatabase> = openEmptyDatabase,
    environment: Readonly<Record<string, string>> = {},
    consensus = BATTERY_CONSENSUS,
  ): Promise<T> {
    const stateDir = await newStateDir();
    const [{ chain, connection, authorityFile, treasury }, database, agent] = await Promise.all([
      openChain(stateDir, consensus),
      openDatabase(),
      startFaultAgent(),
    ]);
    const lanes = new Lanes();
    const postgres = await startPostgresProxy(database.url, lanes);
    const rpc = await startRpcProxy(chain.rpcUrl, lanes);
    const servers = new Servers({
      agentOrigin: agent.origin,
      env: {
        ...serverEnvironment({ databaseUrl: postgres.url, rpcUrl: rpc.url, authorityFile }),
        STATE_DIR: stateDir,
        RECONNECT_GRACE_SECONDS: '0',
        ...environment,
      },
    });
    const parts = { chain, connection, database, agent, lanes, postgres, rpc, treasury };
    const market = new FaultMarket(parts, servers);
    try {
      await market.start();
      return await work(market);
    } finally {
      await servers.close();
      await Promise.all([postgres.close(), rpc.close(), agent.close(), chain.close()]);
      await database.close();
      await removeStateDir(stateDir);
    }
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

  /** Starts a server that a fault may kill during its start. */
  starting() {
    return this.#servers.start();
  }

  /** Kills the server, and lets its leases expire. */
  async kill(server: Pick<FaultServer, 'kill'> = this.server): Promise<void> {
    await server.kill();
    this.#server = undefined;
    await this.passLeases();
  }

  /** Lets the leases of a dead server expire, and ages its runs and tasks. */
  async passLeases(): Promise<void> {
    await passLeases((statement) => this.query(statement));
    await this.query(
      `update graphile_worker._private_jobs set locked_at = locked_at - interval '1 hour' where locked_at is not null`,
    );
  }

  async query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.database.pool.query<T>(text, values)).rows;
  }

  /** Advances the chain until confirmed transactions are final and unseen ones have expired. */
  finalize(): Promise<void> {
    return finalizeChain(this.chain);
  }

  /** Moves the chain from tower to Alpenglow. No fork drops a transaction any more. */
  async migrate(): Promise<void> {
    await askChain(this.chain, 'localchain_migrate');
  }

  /** Drops transactions by a fork. @returns the number of dropped ones */
  async fork(dropSignatures: readonly string[]): Promise<number> {
    const asked = askChain<{ dropped: string[] }>(this.chain, 'localchain_fork', { dropSignatures });
    return (await asked).dropped.length;
  }

  async publish(count: number): Promise<Listing[]> {
    const creator = await newParticipant(this.served);
    return Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const name = `fault-agent-${index}`;
        const listing = { price_lamports: Number(RUN_PRICE) };
        const sold = await sellAgent(creator, 'connected', this.agent.url, { name, listing });
        const versions = 'select id from agent_versions where listing_id = $1';
        const [version] = await this.query<{ id: string }>(versions, [sold.id]);
        return { ...sold, versionId: version?.id ?? '' };
      }),
    );
  }

  async rent(listing: Listing, runs: bigint = DEPOSIT_RUNS): Promise<Rental> {
    const terms = { deposit_lamports: Number(runs * RUN_PRICE) };
    const rental = await rentListing(await newParticipant(this.served), listing, terms);
    this.rentals.push(rental);
    return rental;
  }

  /** Creates an API key with a daily limit for the rental's wallet. */
  async giveKey(rental: Rental): Promise<void> {
    const signer = keypairSigner(rental.renter.wallet);
    const client = createClient({ baseUrl: this.server.baseUrl, signer });
    const policy = { max_day_lamports: Number(rental.depositLamports) };
    rental.apiKey = (await createApiKey(client, signer, 'limited', { policy })).key;
  }

  rentAll(listings: readonly Listing[], runs?: bigint): Promise<Rental[]> {
    return inParallel(listings, 6, (listing) => this.rent(listing, runs));
  }

  /** The texts that identify steps of this rental's runs. */
  tokensOf({ wallet, balanceAddress, listing }: Rental): string[] {
    const credential = findAccessCredentialAddress(new PublicKey(wallet), listing.address).address;
    return [wallet, balanceAddress.toBase58(), credential.toBase58(), listing.id, listing.versionId];
  }
}

/** A registration of a connected agent of this market. */
export const draftOf = ({ agent }: FaultMarket, name: string) => ({
  name,
  category: 'research' as const,
  description: 'Answers at once.',
  model: { provider: 'self_hosted' as const, model: 'stand-in', endpoint_url: agent.url },
  entrypoint_url: agent.url,
  input_schema: {},
  output_schema: { type: 'string' },
  listing: { rental_model: 'one_time' as const, price_lamports: 1_000_000, sample_output: ['A sample.'] },
});

/** Lets the leases of a dead server expire, and ages its runs. */
export async function passLeases(query: (statement: string) => Promise<unknown>): Promise<void> {
  await query(`update seats set expires_at = now() - interval '1 second'`);
  await query(`update seat_line set expires_at = now() - interval '1 second'`);
  await query(`update runs set created_at = created_at - interval '2 minutes' where status = 'running'`);
}
