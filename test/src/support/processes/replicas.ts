import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  newStateDir,
  removeStateDir,
  startServer,
  type Marketplace,
  type OwnServer,
} from '../marketplace.js';

/** Server processes that share the parts an operator gives them. */
export interface Replicas {
  readonly servers: readonly OwnServer[];
  /** Stops them, and removes their files. */
  stop(): Promise<void>;
}

/**
 * Starts servers at the same time, as production does. They have a separate PostgreSQL and Redis. They use the chain of a
 * running marketplace, with its authority, and the limits of production.
 */
export async function startReplicas(
  count: number,
  chain: Marketplace,
  parts: { databaseUrl: string; redisUrl: string },
): Promise<Replicas> {
  const keys = join(chain.stateDir, 'keys');
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: parts.databaseUrl,
    REDIS_URL: parts.redisUrl,
    REPLICAS: String(count),
    SOLANA_RPC_URLS: chain.dev.rpc_url,
    SOLANA_NETWORK: 'localnet',
    AUTHORITY_KEYPAIR: join(keys, 'authority.json'),
    MASTER_KEY: (await readFile(join(keys, 'master-key'), 'utf8')).trim(),
    METRICS_TOKEN: METRICS_TOKEN,
    REVIEW: 'automatic',
    SANDBOX_POOL_SIZE: '1',
    // Empty values count as absent.
    RATE_LIMIT_PER_MINUTE: '',
    EXECUTIONS_PER_MINUTE: '',
  };
  const folders = await Promise.all(Array.from({ length: count }, newStateDir));
  const started = await Promise.allSettled(folders.map((folder) => startServer(folder, env)));
  const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(folders.map(removeStateDir));
  };
  const failed = started.find((one) => one.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { servers, stop };
}

/** Opens the metrics of every replica. */
export const METRICS_TOKEN = 'the-token-of-the-replicas-metrics';
