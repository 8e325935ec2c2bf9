import { join } from 'node:path';
import { openKeptDatabase } from '@agent-rental/server/testing';
import { newStateDir, removeStateDir } from '@agent-rental/test/support/marketplace';
import { startRedis } from '@agent-rental/test/support/processes/redis';
import { METRICS_TOKEN } from '@agent-rental/test/support/processes/replicas';
import { finalizeChain, openChain } from '@agent-rental/test/support/replicas/market-chain';
import { SERVER_PROCESS } from '@agent-rental/test/support/replicas/replica';
import { serverEnvironment } from '../../world/environment.js';
import { passLeases } from '../../world/market.js';
import { freePorts } from './embedded-stack.js';
import { queryOf, type Stack } from './stack.js';
import { SupervisedServer } from './supervised-server.js';

/** Replicas that share the limits. Only one of them runs. */
export const REPLICAS = 2;
/** The length of an outage of Redis: long enough for the server to notice. */
const REDIS_OUT_MS = 1_500;

/** Starts a server in production mode, on a new PostgreSQL, Redis and chain. */
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
  const query = queryOf(() => database.url);
  const server = await SupervisedServer.start(
    {
      entry: SERVER_PROCESS,
      env: { TMPDIR: tempDir },
      start: {
        agentOrigin,
        env: {
          ...serverEnvironment({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, authorityFile }),
          STATE_DIR: stateDir,
          PORT: String(port),
          REDIS_URL: redis.url,
          REPLICAS: String(REPLICAS),
          METRICS_TOKEN,
          SANDBOX_POOL_SIZE: '2',
          LOG_LEVEL: 'info',
          ...env,
        },
      },
    },
    () => passLeases(query),
  );
  return {
    name: 'production',
    dev: { base_url: `http://127.0.0.1:${port}`, rpc_url: chain.rpcUrl },
    connection,
    treasury,
    folders: [tempDir, join(stateDir, 'sandbox')],
    server,
    async pidOf(part) {
      if (part === 'chain') throw new Error('The production stack does not kill its chain.');
      return { server: server.pid, postgres: database.pid, redis: redis.pid }[part];
    },
    query,
    finalize: () => finalizeChain(chain),
    async close() {
      isClosing = true;
      await server.close();
      await Promise.all([redis.kill(), database.close(), chain.close()]);
      await Promise.all([removeStateDir(stateDir), removeStateDir(tempDir)]);
    },
  };
}
