import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EmbeddedKeys } from '../keypairs.js';

/** Agents and models of creators on this machine: the default addresses of the sdk, and of the practice model. */
const TRIED_ORIGINS = 'http://127.0.0.1:8788,http://127.0.0.1:8789';

/** The parts of a rehearsal that its settings name. */
export interface RehearsedParts {
  readonly folder: string;
  readonly keys: Pick<EmbeddedKeys, 'masterKey'>;
  readonly rpcUrl: string;
  readonly databaseUrl: string;
  /** Absent: limits in memory. */
  readonly redisUrl: string | undefined;
  readonly port: number;
}

/** The environment of the server: production's, with the two exceptions that a local network allows. */
export function serverSettings(parts: RehearsedParts): Record<string, string> {
  return {
    NODE_ENV: 'production',
    SOLANA_NETWORK: 'localnet',
    SOLANA_RPC_URLS: parts.rpcUrl,
    DATABASE_URL: parts.databaseUrl,
    ...(parts.redisUrl === undefined ? {} : { REDIS_URL: parts.redisUrl }),
    AUTHORITY_KEYPAIR: join(parts.folder, 'keys', 'authority.json'),
    MASTER_KEY: parts.keys.masterKey.toString('base64'),
    METRICS_TOKEN: randomBytes(24).toString('hex'),
    REVIEW: 'operator',
    PORT: String(parts.port),
    STATE_DIR: join(parts.folder, 'server'),
    ALLOW_LOOPBACK: TRIED_ORIGINS,
    SANDBOX_MIN_ISOLATION: 'runtime',
  };
}

/** A file for the shell of an operator, a creator and a renter. */
export function shellSettings(
  settings: Readonly<Record<string, string>>,
  { folder, baseUrl, root }: { folder: string; baseUrl: string; root: string },
): string {
  const all = {
    ...settings,
    REHEARSAL: folder,
    AGENT_RENTAL_URL: baseUrl,
    AGENT_RENTAL_RPC_URL: settings['SOLANA_RPC_URLS'] ?? '',
  };
  const lines = Object.entries(all).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const cli = join(root, 'packages', 'cli', 'dist', 'bin.js');
  return [...lines, `agent-rental() { node ${quoted(cli)} "$@"; }`, ''].join('\n');
}

/** A word of the shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
