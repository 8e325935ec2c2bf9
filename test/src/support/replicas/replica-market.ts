import { randomBytes } from 'node:crypto';
import type { LocalChain } from '@agent-rental/local-chain';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { keypairSigner, type WalletSigner } from '@agent-rental/sdk/solana';
import { openRestartableDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import type { Connection, PublicKey } from '@solana/web3.js';
import { rentListing, sellAgent, type Rental, type SoldListing } from '../agents/market-agents.js';
import { startSlowAgents, type SlowAgents } from '../agents/slow-agents.js';
import { newStateDir, removeStateDir, type Served } from '../marketplace.js';
import { startRedis, type OwnRedis } from '../processes/redis.js';
import type { Participant } from '../participant.js';
import { METRICS_TOKEN } from '../processes/replicas.js';
import { newRenter, type Market, type Renter } from '../renter.js';
import { openChain } from './market-chain.js';
import { startReplica, type Replica } from './replica.js';

/** Price of a run per task, of a rental for good, and of a subscription, in lamports. */
export const RUN_PRICE = 250_000;
const SUBSCRIPTION_SECONDS = 2_592_000;

export type RentalModel = 'one_time' | 'subscription' | 'per_query';

/** A listing and how its runs are paid. */
export interface MarketListing extends SoldListing {
  readonly model: RentalModel;
}

/** On a separate PostgreSQL: several replicas need more connections than one allows by default. */
async function openOwnDatabase(): Promise<TemporaryDatabase> {
  const database = await openRestartableDatabase();
  await database.restart({ max_connections: '400' });
  return database;
}

/** Headers that give a request a client address of which no other request comes. */
export function elsewhere(): Record<string, string> {
  return { 'x-forwarded-for': `10.${randomBytes(3).join('.')}` };
}

/** Options of a market. */
export interface MarketOptions {
  /** How many replicas start. */
  readonly replicas: number;
  /** The environment of every replica, beside production's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Compiled code of another release. */
  readonly serverFolder?: string;
  /** The server in front of the replicas, if there is one. */
  readonly front?: Served;
}

/**
 * A marketplace of several servers as production has it: one PostgreSQL, one Redis and one chain, which outlive every server, and
 * agents on this machine.
 */
export class ReplicaMarket {
  declare readonly chain: LocalChain;
  declare readonly connection: Connection;
  declare readonly treasury: PublicKey;
  declare readonly database: TemporaryDatabase;
  declare readonly redis: OwnRedis;
  declare readonly agents: SlowAgents;
  /** The environment of every replica. */
  declare readonly env: Readonly<Record<string, string>>;
  /** All started replicas, in order. */
  readonly replicas: Replica[] = [];
  /** Rentals per task, whose payments the listings and the treasury have. */
  readonly rentals: Rental<MarketListing>[] = [];
  readonly #stateDir: string;
  readonly #front: Served | undefined;

  private constructor(
    parts: Pick<ReplicaMarket, 'chain' | 'connection' | 'treasury' | 'database' | 'redis' | 'agents' | 'env'>,
    { stateDir, front }: { stateDir: string; front: Served | undefined },
  ) {
    Object.assign(this, parts);
    this.#stateDir = stateDir;
    this.#front = front;
  }

  /**
   * Opens it with its replicas, which start at the same time.
   *
   * @param onTask called with the body of each task that the agents get
   */
  static async open(
    { replicas, env = {}, serverFolder, front }: MarketOptions,
    onTask: Parameters<typeof startSlowAgents>[0] = () => undefined,
  ): Promise<ReplicaMarket> {
    const stateDir = await newStateDir();
    const [{ chain, connection, authorityFile, treasury }, database, redis, agents] = await Promise.all([
      openChain(stateDir),
      openOwnDatabase(),
      startRedis(),
      startSlowAgents(onTask),
    ]);
    const parts = {
      chain,
      connection,
      treasury,
      database,
      redis,
      agents,
      env: {
        PORT: '0',
        NODE_ENV: 'production',
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        REPLICAS: String(replicas),
        SOLANA_RPC_URLS: chain.rpcUrl,
        SOLANA_NETWORK: 'localnet',
        AUTHORITY_KEYPAIR: authorityFile,
        MASTER_KEY: randomBytes(32).toString('base64'),
        METRICS_TOKEN,
        REVIEW: 'automatic',
        LOG_LEVEL: 'warn',
        SANDBOX_POOL_SIZE: '1',
        // So that each wallet has a separate address: logins are limited by address.
        TRUSTED_PROXIES: '127.0.0.1',
        ...(front ? { PUBLIC_URL: front.dev.base_url } : {}),
        ...env,
      },
    };
    const market = new ReplicaMarket(parts, { stateDir, front });
    try {
      await Promise.all(Array.from({ length: replicas }, () => market.add(serverFolder)));
      return market;
    } catch (error) {
      await market.close();
      throw error;
    }
  }

  /** The replicas that were neither killed nor told to stop. */
  get running(): Replica[] {
    return this.replicas.filter(({ isUp }) => isUp);
  }

  /** The server in front, or a replica that runs; for the support of the end-to-end tests. */
  get served(): Market {
    const at = this.#front ?? this.running[0];
    if (at === undefined) throw new Error('No replica runs.');
    return { dev: { ...at.dev, rpc_url: this.chain.rpcUrl } };
  }

  /**
   * Starts one more replica. The server in front is not told of it.
   *
   * @param serverFolder compiled code of another release
   */
  async add(serverFolder?: string): Promise<Replica> {
    const name = `replica ${this.replicas.length + this.#starting + 1}`;
    this.#starting += 1;
    try {
      const message = { env: this.env, agentOrigin: new URL(this.agents.agentUrl).origin };
      const replica = await startReplica(name, message, serverFolder);
      this.replicas.push(replica);
      return replica;
    } finally {
      this.#starting -= 1;
    }
  }
  #starting = 0;

  async query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.database.pool.query<T>(text, values)).rows;
  }

  /** Makes a wallet that is logged in, with its signer and its client. */
  async participant(): Promise<Participant> {
    const renter = await newRenter(this.served, elsewhere());
    const signer = keypairSigner(renter.wallet);
    return { ...renter, signer, client: this.#clientOf(signer) };
  }

  #clientOf(signer: WalletSigner): RentalClient {
    const headers = Object.entries(elsewhere());
    return createClient({
      baseUrl: this.served.dev.base_url,
      signer,
      fetch: (input, init) => {
        const request = new Request(input, init);
        for (const [name, value] of headers) request.headers.set(name, value);
        return fetch(request);
      },
    });
  }

  /** Puts agents on sale: connected ones, or a declarative one that runs in sandboxes. */
  async publish(
    names: readonly { name: string; model: RentalModel; isDeclarative?: boolean }[],
  ): Promise<MarketListing[]> {
    const creator = await this.participant();
    const { agentUrl, modelUrl } = this.agents;
    return Promise.all(
      names.map(async ({ name, model, isDeclarative = false }) => {
        const [kind, url] = isDeclarative
          ? (['declarative', modelUrl] as const)
          : (['connected', agentUrl] as const);
        const listing = { rental_model: model, price_lamports: RUN_PRICE };
        return { ...(await sellAgent(creator, kind, url, { name, listing })), model };
      }),
    );
  }

  /** Rents a listing for a wallet, where it is paid per task with money for so many runs. */
  async rent(renter: Renter, listing: MarketListing, runs: number): Promise<void> {
    const signer = keypairSigner(renter.wallet);
    const terms = {
      one_time: { max_price_lamports: RUN_PRICE },
      subscription: { max_price_lamports: RUN_PRICE, duration_seconds: SUBSCRIPTION_SECONDS } as const,
      per_query: { deposit_lamports: runs * RUN_PRICE },
    }[listing.model];
    const participant = { ...renter, signer, client: this.#clientOf(signer) };
    const rental = await rentListing(participant, listing, terms);
    if (listing.model === 'per_query') this.rentals.push(rental);
  }

  async close(): Promise<void> {
    await Promise.all(this.running.map((replica) => replica.kill()));
    await Promise.all([this.agents.close(), this.chain.close(), this.redis.kill()]);
    await this.database.close();
    await removeStateDir(this.#stateDir);
  }
}
