import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openKeptDatabase } from '@agent-rental/server/testing';
import { newStateDir, removeStateDir } from '@agent-rental/test/support/marketplace';
import { startRedis } from '@agent-rental/test/support/processes/redis';
import { METRICS_TOKEN } from '@agent-rental/test/support/processes/replicas';
import { openChain } from '@agent-rental/test/support/replicas/market-chain';
import { SERVER_PROCESS } from '@agent-rental/test/support/replicas/replica';
import { Client } from 'pg';
import { freePorts } from './embedded-stack.js';
import type { Stack } from './stack.js';
import { SupervisedServer } from './supervised-server.js';

/** Beyond the blocks within which a transaction can land, and those after which none is taken back. */
const SLOTS_UNTIL_FINAL = 220;
/** Replicas that share the limits, of which one runs. */
export const REPLICAS = 2;
/** How long the supervisor of Redis waits: an outage that nothing noticed would show nothing. */
const REDIS_OUT_MS = 1_500;

/** What time does to the leases and to the runs of a server that is gone. */
const PASS_LEASES = [
  `update seats set expires_at = now() - interval '1 second'`,
  `update seat_line set expires_at = now() - interval '1 second'`,
  `update runs set created_at = created_at - interval '2 minutes' where status = 'running'`,
];

/** Starts a server as production has it, on a PostgreSQL, a Redis and a chain of its own. */
export async function openProductionStack(
  env: Readonly<Record<string, string>>,
  agentOrigin: string,
): Promise<Stack> {
  const [stateDir, tempDir] = [await newStateDir(), await newStateDir()];
  const [{ chain, connection, authorityFile, treasury }, database, redis, port] = await Promise.all([
    openChain(stateDir),
    openKeptDatabase(),
    startRedis(),
    freePorts(1),
  ]);
  let isClosing = false;
  const keepRedis = async (): Promise<void> => {
    await redis.ended();
    await new Promise((resolve) => setTimeout(resolve, REDIS_OUT_MS));
    if (isClosing) return;
    await redis.restart();
    void keepRedis();
  };
  void keepRedis();
  const query: Stack['query'] = async <T extends object>(text: string, values: unknown[] = []) => {
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<T>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  const server = await SupervisedServer.start(
    {
      entry: SERVER_PROCESS,
      env: { TMPDIR: tempDir },
      start: {
        agentOrigin,
        env: {
          STATE_DIR: stateDir,
          PORT: String(port),
          DATABASE_URL: database.url,
          REDIS_URL: redis.url,
          REPLICAS: String(REPLICAS),
          SOLANA_RPC_URLS: chain.rpcUrl,
          SOLANA_NETWORK: 'localnet',
          AUTHORITY_KEYPAIR: authorityFile,
          MASTER_KEY: randomBytes(32).toString('base64'),
          REVIEW: 'automatic',
          METRICS_TOKEN,
          SANDBOX_POOL_SIZE: '2',
          LOG_LEVEL: 'info',
          ...env,
        },
      },
    },
    async () => {
      for (const statement of PASS_LEASES) await query(statement);
    },
  );
  return {
    name: 'production',
    dev: { base_url: `http://127.0.0.1:${port}`, rpc_url: chain.rpcUrl },
    connection,
    treasury,
    folders: [tempDir, join(stateDir, 'sandbox')],
    server,
    async pidOf(part) {
      if (part === 'chain') throw new Error('The chain of production is not of this stack.');
      return { server: server.pid, postgres: database.pid, redis: redis.pid }[part];
    },
    query,
    async finalize() {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'localchain_warp',
        params: [{ slots: SLOTS_UNTIL_FINAL }],
      });
      const headers = { 'content-type': 'application/json' };
      await (await fetch(chain.rpcUrl, { method: 'POST', headers, body })).text();
    },
    async close() {
      isClosing = true;
      await server.close();
      await Promise.all([redis.kill(), database.close(), chain.close()]);
      await Promise.all([removeStateDir(stateDir), removeStateDir(tempDir)]);
    },
  };
}
