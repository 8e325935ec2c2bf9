import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner, rent, topUp } from '@agent-rental/sdk/solana';
import { openEmptyDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import { sellAgent } from '@agent-rental/test/support/agents/market-agents';
import { until } from '@agent-rental/test/support/timing/until';
import { IS_QUICK } from '@agent-rental/test/support/form';
import { newStateDir, removeStateDir } from '@agent-rental/test/support/marketplace';
import { newRenter } from '@agent-rental/test/support/renter';
import type { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFaultAgent, type FaultAgent } from '../world/agent.js';
import {
  askChain,
  finalizeChain,
  openChain,
  type MarketChain,
} from '@agent-rental/test/support/replicas/market-chain';
import { serverEnvironment } from '../world/environment.js';
import { inMaintenance } from '../world/maintenance.js';
import { Servers, type FaultServer } from '../world/servers.js';
import { chargedOnChain, command, hasProgram, lamportsOnChain, startLoad } from './drill-support.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const RECONCILE = join(ROOT, 'server/dist/reconciliation/main.js');
/** Whether PostgreSQL's backup programs are here. The embedded PostgreSQL does not have them. */
const canBackUp =
  process.env['TEST_DATABASE_URL'] !== undefined && hasProgram('pg_dump') && hasProgram('pg_restore');

const PRICE = 250_000;
const DEPOSIT = 400 * PRICE;
const HOUR_SECONDS = 3_600;
const LOGGED_WITHIN_MS = 120_000;

let folder: string;
let chain: MarketChain;
let database: TemporaryDatabase;
let agent: FaultAgent;
let replicas: Servers[];
let servers: FaultServer[];
let environment: Record<string, string>;
const stateDirs: string[] = [];

beforeAll(async () => {
  if (!canBackUp || IS_QUICK) return;
  folder = await newStateDir();
  [chain, database, agent] = await Promise.all([
    openChain(folder),
    openEmptyDatabase(process.env['TEST_DATABASE_URL']),
    startFaultAgent(),
  ]);
  environment = serverEnvironment({
    databaseUrl: database.url,
    rpcUrl: chain.chain.rpcUrl,
    authorityFile: chain.authorityFile,
  });
  stateDirs.push(await newStateDir(), await newStateDir());
  replicas = stateDirs.map(
    (stateDir) => new Servers({ agentOrigin: agent.origin, env: { ...environment, STATE_DIR: stateDir } }),
  );
  await startAll();
}, 120_000);
afterAll(async () => {
  for (const one of replicas ?? []) await one.close();
  await Promise.all([agent?.close(), chain?.chain.close()]);
  await database?.close();
  for (const stateDir of [folder, ...stateDirs]) if (stateDir !== undefined) await removeStateDir(stateDir);
}, 60_000);

async function startAll(): Promise<void> {
  servers = await Promise.all(replicas.map((one) => one.start().ready));
}

/** Runs commands in a shell like an operator's, with the servers' environment. */
function shell(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...environment };
  const options = { cwd: folder, env, maxBuffer: 1e8 };
  return new Promise((resolve) =>
    execFile('bash', ['-euo', 'pipefail', '-c', script], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  );
}

/** Runs the documented comparison with the chain, on the existing build. @returns its exit code and open differences. */
async function reconcile() {
  const program = `'${process.execPath}' '${RECONCILE}' --json`;
  const { code, stdout } = await shell(command('npm run reconcile').replace('npm run reconcile', program));
  const { open } = JSON.parse(stdout) as { open: { kind: string; run_id?: string }[] };
  return { code, open };
}

const at = (index: number) => (servers[index % servers.length] as FaultServer).baseUrl;
const clientOf = (wallet: Keypair, index: number) =>
  createClient({ baseUrl: at(index), signer: keypairSigner(wallet), retries: 0 });
const newWallet = async () =>
  (await newRenter({ dev: { base_url: at(0), rpc_url: chain.chain.rpcUrl } })).wallet;

/** Publishes an agent through one replica. */
async function publishAgent(wallet: Keypair, rental_model: 'per_query' | 'one_time'): Promise<string> {
  const creator = { wallet, token: '', client: clientOf(wallet, 0), signer: keypairSigner(wallet) };
  const name = `drill-${rental_model === 'one_time' ? 'once' : 'by-task'}`;
  const listing = { rental_model, price_lamports: PRICE };
  return (await sellAgent(creator, 'connected', agent.url, { name, listing })).id;
}

const rows = async <T extends object>(statement: string) => (await database.pool.query<T>(statement)).rows;

/** Lets no new batch be written. @returns the function that allows batches again. */
async function holdBatches(): Promise<() => Promise<void>> {
  const client = await database.pool.connect();
  // A backup reads beside this lock.
  await client.query('begin; lock table run_log_batches in share row exclusive mode');
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

/** Waits until a run is in a batch of the run log. Skips the minute between two batches. */
const logged = (client: RentalClient, runId: string) =>
  until(
    async () => {
      await rows(`update run_log_batches set created_at = created_at - interval '1 minute'`);
      const { log } = await client.getReceipt(runId);
      return log.status === 'logged' ? log : undefined;
    },
    LOGGED_WITHIN_MS,
    1_000,
  );

test.runIf(canBackUp && !IS_QUICK)(
  'the commands of docs/operations.md restore an hour-old backup: newer chain data is indexed or listed, no run is charged twice [OPS-80]',
  async () => {
    const [creator, renter, late] = [await newWallet(), await newWallet(), await newWallet()];
    const byTask = await publishAgent(creator, 'per_query');
    const once = await publishAgent(creator, 'one_time');
    const renterAt = (replica: number) => clientOf(renter, replica);
    const signer = keypairSigner(renter);
    await rent(clientOf(renter, 0), signer, byTask, { deposit_lamports: DEPOSIT });
    await rent(clientOf(renter, 1), signer, once, { max_price_lamports: PRICE });
    const kept = await createApiKey(clientOf(renter, 0), signer, 'kept');

    const runFirst = (client: RentalClient) =>
      client.execute({ agent_id: byTask, task: 'answer first' }, { idempotencyKey: 'first' });
    const first = await runFirst(createClient({ baseUrl: at(0), apiKey: kept.key, retries: 0 }));

    // The backup, under load. One run waits for its batch of the run log until the backup is made.
    const load = startLoad(renterAt, byTask, 'before');
    await load.more(10);
    const inBackup = [...load.answered];
    const allowBatches = await holdBatches();
    const waiting = await clientOf(renter, 0).execute({ agent_id: once, task: 'answer once' });
    expect(await shell(command('pg_dump'))).toMatchObject({ code: 0 });
    await allowBatches();
    await load.more(10);
    await load.end();
    const firstLog = await logged(clientOf(renter, 1), waiting.run_id);

    // An hour passes, and the market continues.
    const unixTimestamp = Math.floor(Date.now() / 1_000) + HOUR_SECONDS;
    await askChain(chain.chain, 'localchain_warp', { unixTimestamp });
    // A cached blockhash has expired in that hour. These two transactions give each replica a new one before the load.
    await topUp(clientOf(renter, 0), signer, byTask, { amount_lamports: 10 * PRICE });
    await rent(clientOf(late, 1), keypairSigner(late), byTask, { deposit_lamports: DEPOSIT });
    const laterLoad = startLoad(renterAt, byTask, 'later');
    const lateRun = await clientOf(late, 0).execute({ agent_id: byTask, task: 'answer late' });
    const lost = await createApiKey(clientOf(renter, 1), signer, 'lost');
    const newListing = await publishAgent(creator, 'per_query');
    await rent(clientOf(renter, 0), signer, newListing, { deposit_lamports: DEPOSIT });
    const newRun = await clientOf(renter, 1).execute({ agent_id: newListing, task: 'answer new' });
    await laterLoad.more(10);

    // The disaster, under load.
    laterLoad.killed();
    await Promise.all(servers.map((server) => server.kill()));
    await laterLoad.end();
    await inMaintenance(database.url, (name) => [`drop database ${name}`, `create database ${name}`]);

    expect(await shell(command('pg_restore'))).toMatchObject({ code: 0 });
    await startAll();

    // Credentials and balances equal the chain's.
    const balances = [
      [renter, DEPOSIT + 10 * PRICE],
      [late, DEPOSIT],
    ] as const;
    for (const [wallet, paid] of balances) {
      const balance_lamports = await lamportsOnChain(chain.connection, wallet, byTask);
      const charges = await chargedOnChain(chain.connection, wallet, byTask);
      expect(balance_lamports).toBe(paid - charges.length * PRICE);
      for (const index of [0, 1]) {
        const credential = await clientOf(wallet, index).verifyCredential(byTask);
        expect(credential).toMatchObject({ valid: true, balance_lamports });
      }
    }

    // All wallets continue: a renter with an old key, a renter with a rental newer than the backup, and the creator.
    const charged = async () => (await chargedOnChain(chain.connection, renter, byTask)).length;
    const before = await charged();
    const again = createClient({ baseUrl: at(1), apiKey: kept.key, retries: 0 });
    expect(await runFirst(again)).toEqual(first);
    expect(await charged()).toBe(before);
    const nextLoad = startLoad(renterAt, byTask, 'after');
    await nextLoad.more(6);
    await nextLoad.end();
    const lateAgain = await clientOf(late, 1).execute({ agent_id: byTask, task: 'answer late again' });
    expect(lateAgain).toMatchObject({ status: 'completed', cost_lamports: PRICE });
    const anew = await publishAgent(creator, 'per_query');
    await rent(clientOf(renter, 1), signer, anew, { deposit_lamports: 2 * PRICE });
    const runAnew = await clientOf(renter, 0).execute({ agent_id: anew, task: 'answer anew' });
    expect(runAnew).toMatchObject({ status: 'completed' });

    // Runs, listings and keys that are newer than the backup are unknown. Their charges remain.
    for (const runId of [laterLoad.answered[0] ?? '', newRun.run_id])
      await expect(again.getRun(runId)).rejects.toMatchObject({ code: 'not_found' });
    await expect(again.getListing(newListing)).rejects.toMatchObject({ code: 'listing_not_found' });
    const byLostKey = createClient({ baseUrl: at(0), apiKey: lost.key, retries: 0 });
    await expect(byLostKey.listCredentials()).rejects.toMatchObject({ code: 'invalid_api_key' });

    // Open charges end. The comparison lists each charge and listing that is on the chain alone.
    await until(
      async () => {
        await finalizeChain(chain.chain);
        await rows(`update charges set next_attempt_at = now() where next_attempt_at > now()`);
        const states = await rows<{ state: string }>('select distinct state from charges');
        return states.every(({ state }) => state === 'finalized' || state === 'credited');
      },
      60_000,
      1_000,
    );
    const charges = await rows<{ run_id: string }>('select run_id from charges');
    const known = new Set(charges.map(({ run_id }) => run_id));
    const all = [
      ...(await chargedOnChain(chain.connection, renter, byTask)),
      ...(await chargedOnChain(chain.connection, late, byTask)),
    ];
    expect(new Set(all).size).toBe(all.length);
    for (const runId of inBackup) expect(known).toContain(runId);
    const unknown = all.filter((runId) => !known.has(runId)).toSorted();
    for (const runId of [...laterLoad.answered, lateRun.run_id]) expect(unknown).toContain(runId);
    const listed = await until(async () => {
      await finalizeChain(chain.chain);
      const { code, open } = await reconcile();
      const kinds = new Set(open.map(({ kind }) => kind));
      // The comparison waits for final transactions.
      return kinds.has('unknown_listing') && open.length > unknown.length ? { code, open } : undefined;
    }, 90_000);
    expect(listed.code).toBe(1);
    const kinds = new Set(listed.open.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['unknown_charge', 'unknown_listing']));
    const listedCharges = listed.open.filter(({ kind }) => kind === 'unknown_charge');
    const listedRuns = listedCharges.map(({ run_id = '' }) => run_id).toSorted();
    expect(listedRuns.filter((runId) => all.includes(runId))).toEqual(unknown);

    // The run log continues after the batch that is missing in the backup.
    const nextLog = await logged(clientOf(renter, 0), waiting.run_id);
    expect(nextLog.batch).toBeGreaterThan(firstLog.batch);
    expect(nextLog.previous_root).not.toBe(firstLog.previous_root);
  },
  600_000,
);
