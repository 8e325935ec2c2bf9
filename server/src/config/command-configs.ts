import * as z from 'zod';
import type { SealingKeysConfig } from './config.js';
import { environment, parseEnvironment } from './environment.js';
import { sealingKeysOf } from './parts.js';

/** The configuration of the operator's command line. */
export interface OperatorConfig {
  /** Absent: the database of the server that runs on the state folder. */
  readonly databaseUrl: string | undefined;
  readonly stateDir: string;
}

/** Reads the variables of the operator's command line. @throws ConfigError naming every wrong variable. */
export function readOperatorConfig(env: NodeJS.ProcessEnv): OperatorConfig {
  const value = parseEnvironment(environment.pick({ DATABASE_URL: true, STATE_DIR: true }), env);
  return { databaseUrl: value.DATABASE_URL, stateDir: value.STATE_DIR };
}

/** The keys for the operator's commands. */
interface KeysConfig {
  /** Absent: the embedded default's, in the state folder. */
  readonly masterKey: Uint8Array | undefined;
  readonly sealingKeys: SealingKeysConfig;
  /** The keys of OTHER_SEALING_KEYS, without the master key. */
  readonly others: readonly Uint8Array[];
}

/** Reads the variables of commands about keys. @throws ConfigError naming every wrong variable. */
export function readKeysConfig(env: NodeJS.ProcessEnv): KeysConfig {
  const names = { MASTER_KEY: true, SEALING_KEY: true, OTHER_SEALING_KEYS: true } as const;
  const value = parseEnvironment(environment.pick(names), env);
  return {
    masterKey: value.MASTER_KEY === undefined ? undefined : Buffer.from(value.MASTER_KEY, 'base64'),
    sealingKeys: sealingKeysOf(value),
    others: (value.OTHER_SEALING_KEYS ?? []).map((key) => Buffer.from(key, 'base64')),
  };
}

/** The configuration of the comparison of database and chain. */
export interface ReconciliationConfig extends OperatorConfig {
  readonly rpcUrls: readonly string[] | undefined;
  /** Absent: the published program. */
  readonly programId: string | undefined;
}

/** Reads the variables of that comparison. @throws ConfigError naming every wrong variable. */
export function readReconciliationConfig(env: NodeJS.ProcessEnv): ReconciliationConfig {
  const value = parseEnvironment(environment.pick({ SOLANA_RPC_URLS: true, PROGRAM_ID: true }), env);
  return { ...readOperatorConfig(env), rpcUrls: value.SOLANA_RPC_URLS, programId: value.PROGRAM_ID };
}

/** The variables of a rehearsal, with the usual addresses of this machine. */
const rehearsal = environment.pick({ PORT: true, LOCAL_CHAIN_PORT: true }).extend({
  TEST_DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .default('postgres://postgres@127.0.0.1:5432/postgres'),
  TEST_REDIS_URL: z.url({ protocol: /^rediss?$/ }).default('redis://127.0.0.1:6379'),
});

/** The configuration of a rehearsal of production. */
export interface RehearsalConfig {
  readonly port: number;
  readonly localChainPort: number;
  /** The server on which it makes a database. */
  readonly postgresUrl: string;
  readonly redisUrl: string;
}

/** Reads the variables of a rehearsal. @throws ConfigError naming every wrong variable. */
export function readRehearsalConfig(env: NodeJS.ProcessEnv): RehearsalConfig {
  const value = parseEnvironment(rehearsal, env);
  return {
    port: value.PORT,
    localChainPort: value.LOCAL_CHAIN_PORT,
    postgresUrl: value.TEST_DATABASE_URL,
    redisUrl: value.TEST_REDIS_URL,
  };
}
