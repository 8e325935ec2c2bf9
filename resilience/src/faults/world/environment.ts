import { randomBytes } from 'node:crypto';
import { WITHOUT_LIMITS } from '@agent-rental/test/support/without-limits';

/** The environment of a server on a database and a local chain, with a new master key and without reachable limits. */
export function serverEnvironment(parts: {
  databaseUrl: string;
  rpcUrl: string;
  authorityFile: string;
}): Record<string, string> {
  return {
    PORT: '0',
    DATABASE_URL: parts.databaseUrl,
    SOLANA_RPC_URLS: parts.rpcUrl,
    SOLANA_NETWORK: 'localnet',
    AUTHORITY_KEYPAIR: parts.authorityFile,
    MASTER_KEY: randomBytes(32).toString('base64'),
    REVIEW: 'automatic',
    LOG_LEVEL: 'warn',
    ...WITHOUT_LIMITS,
    SANDBOX_POOL_SIZE: '1',
  };
}
