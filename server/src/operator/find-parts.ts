import { resolve } from 'node:path';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { createChain, type Chain } from '../chain/index.js';
import { readOperatorConfig, readReconciliationConfig } from '../config/index.js';
import { findRunningPostgres, readDevFile, readMasterKey } from '../embedded/index.js';
import { OperatorError } from './operator-error.js';

/** The database of the environment, or of the server that runs on the state folder. @throws OperatorError, ConfigError */
export function findDatabase(env: NodeJS.ProcessEnv): string {
  const config = readOperatorConfig(env);
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const stateDir = resolve(config.stateDir);
  const url = findRunningPostgres(stateDir);
  if (url !== undefined) return url;
  throw new OperatorError(
    `No server runs on the state folder ${stateDir}. Start it with npm start, or name another with STATE_DIR ` +
      'or a database with DATABASE_URL.',
  );
}

/** The master key of the server that runs on the state folder. @throws OperatorError where the database is another one's */
export async function findMasterKey(env: NodeJS.ProcessEnv): Promise<Uint8Array> {
  const { databaseUrl, stateDir } = readOperatorConfig(env);
  const key = databaseUrl === undefined ? await readMasterKey(resolve(stateDir)) : undefined;
  if (key !== undefined) return key;
  throw new OperatorError(
    'Set MASTER_KEY, and SEALING_KEY and OTHER_SEALING_KEYS where the servers have them.',
  );
}

/** The chain of the environment, or of the server that runs on the state folder. @throws OperatorError, ConfigError */
export async function findChain(env: NodeJS.ProcessEnv): Promise<Chain> {
  const { rpcUrls, programId, stateDir } = readReconciliationConfig(env);
  if (rpcUrls !== undefined) {
    return createChain(rpcUrls, programId === undefined ? MARKETPLACE_PROGRAM_ID : new PublicKey(programId));
  }
  const dev = await readDevFile(resolve(stateDir));
  if (dev) return createChain(dev.rpc_url, new PublicKey(dev.program_id));
  throw new OperatorError(
    `No server runs on the state folder ${resolve(stateDir)}. Start it with npm start, name another with STATE_DIR, or an ` +
      'RPC endpoint with SOLANA_RPC_URLS.',
  );
}
