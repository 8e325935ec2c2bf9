import { join } from 'node:path';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { createApp } from './app.js';
import { createChain, loadKeypair } from '../chain/index.js';
import { ConfigError, type Config } from '../config.js';
import { openDatabase } from '../database/connection.js';
import { deriveKeys } from '../platform/keys.js';
import type { Logger } from '../platform/logger.js';
import { openSandboxes } from './sandboxes/isolation.js';
import type { RunningServer } from './running-server.js';

const INDEX_POLL_MS = 2_000;

/** Starts the server on parts that an operator runs: PostgreSQL, a Solana RPC, the operator's keys. */
export async function startProduction(
  config: Config,
  stateDir: string,
  logger: Logger,
): Promise<RunningServer> {
  const { databaseUrl, solanaRpcUrls, authorityKeypair, masterKey } = config;
  const rpcUrl = solanaRpcUrls?.[0];
  if (!databaseUrl || !rpcUrl || !authorityKeypair || !masterKey) {
    throw new ConfigError('DATABASE_URL, SOLANA_RPC_URLS, AUTHORITY_KEYPAIR and MASTER_KEY are required.');
  }
  const authority = await loadKeypair(authorityKeypair);
  const programId = config.programId ? new PublicKey(config.programId) : MARKETPLACE_PROGRAM_ID;
  const driver = await openSandboxes(config.sandbox, stateDir, logger);
  const database = openDatabase(databaseUrl, (err) =>
    logger.warn({ err }, 'an idle database connection broke'),
  );
  const app = await createApp({
    config,
    logger,
    database,
    chain: createChain(rpcUrl, programId),
    authority,
    keys: deriveKeys(masterKey),
    driver,
    contentFolder: join(stateDir, 'content'),
    allowedOrigins: new Set(),
    alone: false,
    indexPollMs: INDEX_POLL_MS,
  });
  const baseUrl = await app.http.listen({ host: config.host, port: config.port });
  return {
    failed: new Promise(() => undefined),
    baseUrl,
    description: `The marketplace is up at ${baseUrl}\n`,
    routes: app.http.routes,
    stop: async () => {
      await app.close();
      await driver.close();
      await database.close();
    },
  };
}
