import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { clusterApiUrl, PublicKey } from '@solana/web3.js';
import { createApp } from './app.js';
import { createChain, createProgramHistory } from '../chain/index.js';
import { openAuthority } from './chain/authority.js';
import { ConfigError, type Config } from '../config/index.js';
import { openDatabase } from '../database/connection.js';
import { MigrationError } from '../database/migrate.js';
import { deriveKeys } from '../platform/keys.js';
import type { Logger } from '../platform/logger.js';
import { openSandboxes } from './sandboxes/open-driver.js';
import { requireCluster } from './requirements/cluster.js';
import { databaseError, requireDatabase } from './requirements/database.js';
import type { RunningServer } from './running-server.js';

/** In this time a load balancer that looks at `/ready` each second learns that the server drains. */
const LOAD_BALANCER_NOTICE_MS = 1_500;

const INDEX_POLL_MS = 2_000;

/** The endpoints that Solana keeps for everybody. */
const PUBLIC_RPC_URLS = {
  localnet: undefined,
  devnet: clusterApiUrl('devnet'),
  mainnet: clusterApiUrl('mainnet-beta'),
} as const;

export { createLogger } from '../platform/logger.js';

/**
 * Starts the server on parts that an operator runs: PostgreSQL, a Solana RPC, the operator's keys.
 *
 * @param allowedOrigins of agents that may be called although they are not on the public internet; for tests.
 */
export async function startProduction(
  config: Config,
  stateDir: string,
  logger: Logger,
  allowedOrigins: readonly string[] = [],
): Promise<RunningServer> {
  const { databaseUrl, solanaRpcUrls, masterKey } = config;
  if (!databaseUrl || !solanaRpcUrls || !masterKey) {
    throw new ConfigError('DATABASE_URL, SOLANA_RPC_URLS and MASTER_KEY are required.');
  }
  const authority = await openAuthority(config);
  const programId = config.programId ? new PublicKey(config.programId) : MARKETPLACE_PROGRAM_ID;
  const chain = createChain(solanaRpcUrls, programId, logger);
  await requireCluster(chain, config);
  const database = openDatabase(databaseUrl, (err) =>
    logger.warn({ err }, 'an idle database connection broke'),
  );
  await requireDatabase(database.pool, databaseUrl);
  const driver = await openSandboxes(config.sandbox, stateDir, logger);
  const app = await createApp({
    config,
    logger,
    database,
    chain,
    publicRpcUrl: PUBLIC_RPC_URLS[config.network],
    history: createProgramHistory(solanaRpcUrls, programId),
    authority,
    keys: deriveKeys(masterKey, config.sealingKeys),
    driver,
    contentFolder: join(stateDir, 'content'),
    allowedOrigins: new Set([...(config.allowedLoopback ?? []), ...allowedOrigins]),
    alone: false,
    diskSpace: undefined,
    indexPollMs: INDEX_POLL_MS,
  }).catch((error: unknown) => {
    throw error instanceof MigrationError ? databaseError(error, databaseUrl) : error;
  });
  const baseUrl = await app.http.listen({ host: config.host, port: config.port });
  return {
    failed: new Promise(() => undefined),
    baseUrl,
    description: `The marketplace is up at ${baseUrl}\n`,
    routes: app.http.routes,
    stop: async () => {
      // It listens meanwhile: a connection that comes just as it stops to listen would be reset.
      await Promise.all([app.drain(), delay(LOAD_BALANCER_NOTICE_MS)]);
      await app.close();
      await driver.close();
      await database.close();
    },
  };
}
