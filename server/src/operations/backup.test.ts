import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLocalChain, type LocalChain } from '@agent-rental/local-chain';
import {
  decodePerQueryBalance,
  findListingAddress,
  findPerQueryBalanceAddress,
  isSequenceConsumed,
  MARKETPLACE_PROGRAM_ID,
} from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { createDenoDriver } from '@agent-rental/sandbox';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import {
  createApiKey,
  keypairSigner,
  publish,
  rent,
  topUp,
  type WalletSigner,
} from '@agent-rental/sdk/solana';
import { Connection, Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { Client } from 'pg';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createApp, type App } from '../compose/app.js';
import {
  createChain,
  createKeypairSigner,
  createProgramHistory,
  createRotatingSigner,
} from '../chain/index.js';
import { readConfig } from '../config/index.js';
import { initializeLocalProtocol } from '../embedded/initialize-protocol.js';
import { openEmbeddedKeys, type EmbeddedKeys } from '../embedded/keypairs.js';
import { openDatabase, type OpenDatabase } from '../database/connection.js';
import { deriveKeys } from '../platform/keys.js';
import { readBody, startHttpStandIn, type HttpStandIn } from '../testing/index.js';

// The backup is made with PostgreSQL's own programs, which the embedded default does not bring.
const postgresUrl = process.env['TEST_DATABASE_URL'];
const canBackUp = postgresUrl !== undefined && hasProgram('pg_dump') && hasProgram('pg_restore');

const PRICE = 250_000;
const DEPOSIT = 20 * PRICE;
/** Beyond it a slot is final. */
const FINALIZED_AFTER_SLOTS = 33;
const execute = promisify(execFile);

let folder: string;
let localChain: LocalChain;
let keys: EmbeddedKeys;
let agent: HttpStandIn;
let webhookSecret = '';
const databases: string[] = [];

/** A server as production has it: its own database, content folder and process state; the same keys. */
interface Server {
  baseUrl: string;
  app: App;
  database: OpenDatabase;
  stop(): Promise<void>;
}

async function startServer(databaseUrl: string, contentFolder: string): Promise<Server> {
  const driver = await createDenoDriver({ stateDir: await mkdtemp(join(folder, 'sandbox-')) });
  const database = openDatabase(databaseUrl, () => undefined);
  const app = await createApp({
    config: readConfig({ SANDBOX_POOL_SIZE: '1', PORT: '0', RATE_LIMIT_PER_MINUTE: '10000' }),
    logger: pino({ level: 'silent' }),
    database,
    chain: createChain(localChain.rpcUrl, MARKETPLACE_PROGRAM_ID),
    publicRpcUrl: undefined,
    history: createProgramHistory(localChain.rpcUrl, MARKETPLACE_PROGRAM_ID),
    authority: createRotatingSigner(createKeypairSigner(keys.authority)),
    keys: deriveKeys(keys.masterKey),
    driver,
    contentFolder,
    allowedOrigins: new Set([agent.origin]),
    alone: false,
    diskSpace: undefined,
    indexPollMs: 200,
  });
  const baseUrl = await app.http.listen({ host: '127.0.0.1', port: 0 });
  const stop = async () => {
    await app.close();
    await driver.close();
    await database.close();
  };
  return { baseUrl, app, database, stop };
}

async function createDatabase(): Promise<string> {
  const name = `backup_${randomUUID().replaceAll('-', '')}`;
  await onServer(`create database ${name}`);
  databases.push(name);
  const url = new URL(postgresUrl ?? '');
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function fundedSigner(): Promise<WalletSigner> {
  const wallet = Keypair.generate();
  const connection = new Connection(localChain.rpcUrl, {
    wsEndpoint: localChain.wsUrl,
    commitment: 'confirmed',
  });
  const signature = await connection.requestAirdrop(wallet.publicKey, LAMPORTS_PER_SOL);
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
  return keypairSigner(wallet);
}

async function letSlotsPass(slots: number): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'localchain_warp', params: [{ slots }] });
  const headers = { 'content-type': 'application/json' };
  const answer = await (await fetch(localChain.rpcUrl, { method: 'POST', headers, body })).json();
  expect(answer).not.toHaveProperty('error');
}

async function balanceOnChain(wallet: string, listingId: string) {
  const listing = findListingAddress(listingId, MARKETPLACE_PROGRAM_ID).address;
  const { address } = findPerQueryBalanceAddress(new PublicKey(wallet), listing, MARKETPLACE_PROGRAM_ID);
  const account = await new Connection(localChain.rpcUrl, 'confirmed').getAccountInfo(address);
  return decodePerQueryBalance(account?.data ?? Buffer.alloc(0));
}

beforeAll(async () => {
  if (!canBackUp) return;
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-rental-backup-')));
  keys = await openEmbeddedKeys(folder);
  localChain = await startLocalChain({
    consensus: 'tower',
    stateDir: join(folder, 'chain'),
    rpcPort: 0,
    testHooks: true,
    programs: [
      {
        programId: MARKETPLACE_PROGRAM_ID.toBase58(),
        soPath: marketplaceSoPath(),
        upgradeAuthority: keys.upgradeAuthority.publicKey.toBase58(),
      },
    ],
  });
  await initializeLocalProtocol(localChain.rpcUrl, localChain.wsUrl, keys, MARKETPLACE_PROGRAM_ID);
  agent = await startHttpStandIn(async (request, response) => {
    const body = await readBody(request);
    // Only who can open the sealed secret can sign.
    const { task } = new Webhook(webhookSecret).verify(body, request.headers as Record<string, string>) as {
      task: string;
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(`done: ${task}`));
  });
});

afterAll(async () => {
  if (!canBackUp) return;
  await agent?.close();
  await localChain?.close();
  for (const name of databases) await onServer(`drop database if exists ${name} with (force)`);
  await rm(folder, { recursive: true, force: true });
});

test.skipIf(!canBackUp)(
  'a server on a restored backup knows all that the chain knows, and charges no sequence twice [OPS-79]',
  async () => {
    const firstUrl = await createDatabase();
    const content = join(folder, 'content');
    const first = await startServer(firstUrl, content);
    const [creator, early, late] = await Promise.all([fundedSigner(), fundedSigner(), fundedSigner()]);
    const clientOf = (baseUrl: string, signer: WalletSigner) => createClient({ baseUrl, signer, retries: 0 });

    const publisher = clientOf(first.baseUrl, creator);
    const registered = await publisher.registerAgent({
      name: 'backed-up',
      category: 'research',
      description: 'Answers.',
      model: { provider: 'self_hosted', endpoint_url: `${agent.origin}/` },
      entrypoint_url: `${agent.origin}/`,
      input_schema: { type: 'object' },
      output_schema: { type: 'string' },
      listing: { rental_model: 'per_query', price_lamports: PRICE, sample_output: ['A sample.'] },
    });
    webhookSecret = registered.webhook_secret ?? '';
    const job = await vi.waitUntil(
      async () => {
        const state = await publisher.getJob(registered.job_id);
        return state.status === 'queued' ? undefined : state;
      },
      { timeout: 10_000 },
    );
    const agentId = job.result?.listing_id ?? '';
    await publish(publisher, creator, agentId);

    const renter = clientOf(first.baseUrl, early);
    await rent(renter, early, agentId, { deposit_lamports: DEPOSIT });
    const { key } = await createApiKey(renter, early, 'kept');
    const run = (client: RentalClient, task: string) =>
      client.execute({ agent_id: agentId, task }, { idempotencyKey: task });
    const keyed = createClient({ baseUrl: first.baseUrl, apiKey: key, retries: 0 });
    const before = [await run(keyed, 'one'), await run(keyed, 'two'), await run(keyed, 'three')];

    const archive = join(folder, 'market.dump');
    await execute('pg_dump', ['--format=custom', `--file=${archive}`, firstUrl]);
    await cp(content, join(folder, 'content.backup'), { recursive: true });

    // Later events are in no backup.
    for (const task of ['four', 'five', 'six']) await run(renter, task);
    await topUp(renter, early, agentId, { amount_lamports: PRICE });
    await rent(clientOf(first.baseUrl, late), late, agentId, { deposit_lamports: DEPOSIT });
    await first.stop();
    await onServer(`drop database ${databases[0] ?? ''} with (force)`);
    await rm(content, { recursive: true });

    const secondUrl = await createDatabase();
    await execute('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${secondUrl}`, archive]);
    const second = await startServer(secondUrl, join(folder, 'content.backup'));
    try {
      // Credentials: index and chain agree, also on later changes.
      const again = createClient({ baseUrl: second.baseUrl, apiKey: key, retries: 0 });
      const spent = DEPOSIT + PRICE - 6 * PRICE;
      for (const [client, balance] of [
        [again, spent],
        [clientOf(second.baseUrl, late), DEPOSIT],
      ] as const) {
        const { credentials } = await client.listCredentials();
        expect(credentials).toMatchObject([{ listing_id: agentId, balance_lamports: balance }]);
        expect(await client.verifyCredential(agentId)).toMatchObject({
          valid: true,
          balance_lamports: balance,
        });
      }
      // Runs: a paid run in the backup is answered without a second payment.
      expect(await run(again, 'two')).toEqual(before[1]);
      expect((await again.verifyCredential(agentId)).balance_lamports).toBe(spent);
      // Charges: the next one goes on above the highest number on-chain, though the database has a lower one.
      expect((await balanceOnChain(early.address, agentId)).highestSequence).toBe(6n);
      const next = await run(again, 'seven');
      expect(next).toMatchObject({ status: 'completed', output: 'done: seven', cost_lamports: PRICE });
      const charges = await second.database.db
        .selectFrom('charges')
        .select(['sequence', 'state'])
        .orderBy('sequence')
        .execute();
      expect(charges.map(({ sequence }) => sequence)).toEqual([1n, 2n, 3n, 7n]);
      const onChain = await balanceOnChain(early.address, agentId);
      expect(onChain.balanceLamports).toBe(BigInt(spent - PRICE));
      for (const { sequence } of charges) expect(isSequenceConsumed(onChain, sequence)).toBe(true);
      // All of them end once their slots are final.
      await letSlotsPass(FINALIZED_AFTER_SLOTS);
      await expect
        .poll(
          async () =>
            (await second.database.db.selectFrom('charges').select('state').distinct().execute()).map(
              ({ state }) => state,
            ),
          { timeout: 30_000 },
        )
        .toEqual(['finalized']);
    } finally {
      await second.stop();
    }
  },
  120_000,
);

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
