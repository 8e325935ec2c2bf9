import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain } from '@agent-rental/local-chain';
import {
  decodeEvents,
  decodePerQueryBalance,
  findListingAddress,
  findPerQueryBalanceAddress,
  MARKETPLACE_PROGRAM_ID,
  updateProtocol,
} from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { createDenoDriver } from '@agent-rental/sandbox';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { keypairSigner, publish, rent, type WalletSigner } from '@agent-rental/sdk/solana';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  sendAndConfirmTransaction,
  Transaction,
  VersionedTransaction,
  type VersionedMessage,
} from '@solana/web3.js';
import { pino } from 'pino';
import { vi } from 'vitest';
import { createApp } from '../../compose/app.js';
import { createChain, createProgramHistory, type RotatingSigner } from '../../chain/index.js';
import { readConfig } from '../../config/index.js';
import { openDatabase } from '../../database/connection.js';
import { initializeLocalProtocol } from '../../embedded/initialize-protocol.js';
import { openEmbeddedKeys } from '../../embedded/keypairs.js';
import { deriveKeys, type Keys } from '../../platform/keys.js';
import { openTestDatabase, readBody, startHostileRpc, startHttpStandIn } from '../index.js';

/** The price of a run, in lamports. */
export const PRICE = 250_000;

/** A running server, with clients of the creator and of the renter. */
export interface ChargingServer {
  readonly baseUrl: string;
  readonly creator: RentalClient;
  readonly renter: RentalClient;
  ready(): Promise<{ status: string; funds: object; rpc_endpoints?: object }>;
  stop(): Promise<void>;
}

/** A chain behind two proxies, a database and wallets, on which tests start servers. */
export type ChargingWorld = Awaited<ReturnType<typeof openChargingWorld>>;

/** Opens it. */
export async function openChargingWorld() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-rental-authority-')));
  const keys = await openEmbeddedKeys(folder);
  const localChain = await startLocalChain({
    consensus: 'tower',
    stateDir: join(folder, 'chain'),
    rpcPort: 0,
    programs: [
      {
        programId: MARKETPLACE_PROGRAM_ID.toBase58(),
        soPath: marketplaceSoPath(),
        upgradeAuthority: keys.upgradeAuthority.publicKey.toBase58(),
      },
    ],
  });
  const connection = new Connection(localChain.rpcUrl, {
    commitment: 'confirmed',
    wsEndpoint: localChain.wsUrl,
  });
  await initializeLocalProtocol(localChain.rpcUrl, localChain.wsUrl, keys, MARKETPLACE_PROGRAM_ID);
  async function fund(address: PublicKey, lamports: number): Promise<void> {
    const signature = await connection.requestAirdrop(address, lamports);
    await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
  }
  async function fundedSigner(): Promise<WalletSigner> {
    const wallet = Keypair.generate();
    await fund(wallet.publicKey, 10 * LAMPORTS_PER_SOL);
    return keypairSigner(wallet);
  }
  await fund(keys.admin.publicKey, LAMPORTS_PER_SOL);
  const [creator, renter] = await Promise.all([fundedSigner(), fundedSigner()]);
  const stops: (() => Promise<void>)[] = [];
  /** Sees the calls of the agent. If it throws, the agent answers with a 500. */
  const calls: { seen?: ((headers: Record<string, string>, body: string) => void) | undefined } = {};
  const agent = await startHttpStandIn(async (request, response) => {
    const body = await readBody(request);
    try {
      calls.seen?.(request.headers as Record<string, string>, body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('"done"');
    } catch {
      response.writeHead(500).end();
    }
  });
  const proxies = [
    await startHostileRpc(localChain.rpcUrl),
    await startHostileRpc(localChain.rpcUrl),
  ] as const;
  const database = await openTestDatabase();

  /** A server on this database and chain, which it reaches through one proxy or both. */
  async function startServer(
    authority: RotatingSigner,
    {
      environment = {},
      endpoints = 1,
      alone = true,
      keys: serverKeys = deriveKeys(keys.masterKey),
    }: {
      environment?: Record<string, string>;
      endpoints?: 1 | 2;
      /** No other server works on the database at the same time. */
      alone?: boolean;
      keys?: Keys;
    } = {},
  ): Promise<ChargingServer> {
    const driver = await createDenoDriver({ stateDir: await mkdtemp(join(folder, 'sandbox-')) });
    const urls = proxies.slice(0, endpoints).map(({ url }) => url);
    const own = openDatabase(database.url, () => undefined);
    const app = await createApp({
      config: readConfig({
        SANDBOX_POOL_SIZE: '1',
        PORT: '0',
        RATE_LIMIT_PER_MINUTE: '100000',
        EXECUTIONS_PER_MINUTE: '100000',
        DRAIN_TIMEOUT_SECONDS: '0',
        ...environment,
      }),
      logger: pino({ level: 'silent' }),
      database: own,
      chain: createChain(urls, MARKETPLACE_PROGRAM_ID),
      publicRpcUrl: undefined,
      history: createProgramHistory(urls, MARKETPLACE_PROGRAM_ID),
      authority,
      keys: serverKeys,
      driver,
      contentFolder: join(folder, 'content'),
      allowedOrigins: new Set([agent.origin]),
      alone,
      diskSpace: undefined,
      indexPollMs: 200,
    }).catch(async (error: unknown) => {
      await driver.close();
      await own.close();
      throw error;
    });
    const baseUrl = await app.http.listen({ host: '127.0.0.1', port: 0 });
    let hasStopped = false;
    const stop = async () => {
      if (hasStopped) return;
      hasStopped = true;
      await app.close();
      await driver.close();
      await own.close();
    };
    stops.push(stop);
    const clientOf = (signer: WalletSigner) => createClient({ baseUrl, signer, retries: 0 });
    return {
      baseUrl,
      creator: clientOf(creator),
      renter: clientOf(renter),
      ready: async () => (await fetch(`${baseUrl}/ready`)).json() as ReturnType<ChargingServer['ready']>,
      stop,
    };
  }
  /** Publishes an agent and rents it. */
  async function rented(
    server: ChargingServer,
    rentalModel: 'per_query' | 'one_time',
    deposit?: number,
    keepSecret: (webhookSecret: string) => void = () => undefined,
  ): Promise<string> {
    const registered = await server.creator.registerAgent({
      name: `charging-${rentalModel === 'one_time' ? 'once' : 'by-task'}`,
      category: 'research',
      description: 'Answers.',
      model: { provider: 'self_hosted', endpoint_url: `${agent.origin}/` },
      entrypoint_url: `${agent.origin}/`,
      input_schema: { type: 'object' },
      output_schema: { type: 'string' },
      listing: { rental_model: rentalModel, price_lamports: PRICE, sample_output: ['A sample.'] },
    });
    keepSecret(registered.webhook_secret ?? '');
    const job = await vi.waitUntil(
      async () => {
        const state = await server.creator.getJob(registered.job_id);
        return state.status === 'queued' ? undefined : state;
      },
      { timeout: 20_000 },
    );
    const agentId = job.result?.listing_id ?? '';
    await publish(server.creator, creator, agentId);
    await rent(
      server.renter,
      renter,
      agentId,
      deposit === undefined ? { max_price_lamports: PRICE } : { deposit_lamports: deposit },
    );
    return agentId;
  }

  /** The admin's changes of the protocol. */
  const changeProtocol = (changes: { authority?: PublicKey; nextAuthority?: PublicKey | null }) =>
    sendAndConfirmTransaction(
      connection,
      new Transaction().add(updateProtocol({ admin: keys.admin.publicKey, ...changes })),
      [keys.admin],
    );

  const balanceAddressOf = (agentId: string) =>
    findPerQueryBalanceAddress(
      new PublicKey(renter.address),
      findListingAddress(agentId, MARKETPLACE_PROGRAM_ID).address,
      MARKETPLACE_PROGRAM_ID,
    ).address;

  /** The runs that the chain has charged, as often as it has. */
  async function chargedOnChain(agentId: string): Promise<string[]> {
    const found = await connection.getSignaturesForAddress(
      balanceAddressOf(agentId),
      { limit: 1000 },
      'confirmed',
    );
    const landed = found.filter(({ err }) => err === null);
    const transactions = await Promise.all(
      landed.map(({ signature }) =>
        connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }),
      ),
    );
    return transactions
      .flatMap((transaction) => decodeEvents(transaction?.meta?.logMessages ?? []))
      .flatMap((event) =>
        event.name === 'QueryConsumed' ? [Buffer.from(event.data.runId).toString('hex')] : [],
      );
  }

  async function balanceOf(agentId: string): Promise<bigint> {
    const account = await connection.getAccountInfo(balanceAddressOf(agentId), 'confirmed');
    return decodePerQueryBalance(account?.data ?? Buffer.alloc(0)).balanceLamports;
  }

  /** The charges with the keys that signed them. */
  async function charges(agentId: string) {
    const rows = await database.db
      .selectFrom('charges')
      .innerJoin('charge_signatures', 'charge_signatures.run_id', 'charges.run_id')
      .where('charges.listing_id', '=', agentId)
      .select([
        'charges.run_id',
        'charges.state',
        'charge_signatures.signed_bytes',
        'charge_signatures.signature',
      ])
      .execute();
    return Promise.all(
      rows.map(async ({ run_id: runId, state, signed_bytes: signedBytes, signature }) => {
        const message =
          signedBytes === null
            ? await landedMessage(signature)
            : VersionedTransaction.deserialize(signedBytes).message;
        return { runId, state, payer: message?.staticAccountKeys[0]?.toBase58() };
      }),
    );
  }

  /** The number of free runs that a listing's renters got as credits, used or not. */
  const creditsOf = async (agentId: string) =>
    (await database.db.selectFrom('credits').select('run_id').where('listing_id', '=', agentId).execute())
      .length;

  /** A final transaction, whose bytes the database has no more. */
  async function landedMessage(signature: string): Promise<VersionedMessage | undefined> {
    const landed = await connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    return landed?.transaction.message;
  }

  return {
    keys,
    creator,
    renter,
    calls,
    db: database.db,
    connection,
    fund,
    proxies,
    startServer,
    rented,
    changeProtocol,
    chargedOnChain,
    balanceOf,
    charges,
    creditsOf,
    lamportsOf: (address: PublicKey) => connection.getBalance(address),
    /** Ends the faults and the servers of a test. */
    async reset() {
      for (const proxy of proxies) proxy.fault = undefined;
      calls.seen = undefined;
      for (const stop of stops.splice(0)) await stop();
    },
    async close() {
      await agent.close();
      for (const proxy of proxies) await proxy.close();
      await localChain.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
