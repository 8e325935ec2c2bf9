import {
  type IsolationLevel,
  isolationLevels,
  type LocalDriverChoice,
  sandboxDriverNames,
} from '@agent-rental/sandbox';
import * as z from 'zod';
import type { TracingOptions } from './platform/tracing/export.js';

const port = z.coerce.number().int().min(0).max(65_535);
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** Base URLs of services, separated by commas. */
const urls = list.pipe(z.array(z.url({ protocol: /^https?$/ })).min(1));

/** Names of this machine, to itself. */
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** The default origins of an agent that the sdk serves, and of the command line's practice model. */
const TRIED_ORIGINS: readonly string[] = ['http://127.0.0.1:8788', 'http://127.0.0.1:8789'];

const publicKey = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a public key in base58');

/** USDC for 1 SOL, or the bounds of such a price. */
const usdcPrice = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,6})?$/, 'must be a number such as 142.5')
  .refine((text) => Number(text) > 0, 'must be above 0');

const key32 = z
  .base64()
  .refine((value) => Buffer.from(value, 'base64').length === 32, 'must be 32 bytes in base64');

/** Every variable of the environment that the server reads. Nothing else reads `process.env`. */
export const environment = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8787),
  /** Where callers reach the API from outside; wallets sign in to it. */
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Addresses and ranges whose `X-Forwarded-For` is believed. */
  TRUSTED_PROXIES: list
    .pipe(z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be addresses or ranges')))
    .optional(),
  LOCAL_CHAIN_PORT: port.default(8899),
  LOCAL_CHAIN_CONSENSUS: z.enum(['alpenglow', 'tower']).default('alpenglow'),
  LOCAL_CHAIN_SLOT_MS: z.coerce.number().int().min(50).max(2_000).optional(),
  STATE_DIR: z.string().min(1).default('.agent-rental'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  /** The first is preferred; two of them decide together. */
  SOLANA_RPC_URLS: list
    .pipe(z.array(z.url()).min(1))
    .refine((urls) => new Set(urls).size === urls.length, 'must name each endpoint once')
    .optional(),
  SOLANA_NETWORK: z.enum(['localnet', 'devnet', 'mainnet']).optional(),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** How many replicas share the limits; each takes its share while Redis is out. */
  REPLICAS: z.coerce.number().int().min(1).max(1000).default(1),
  PROGRAM_ID: publicKey.optional(),
  /** File with the hot authority's keypair, in the JSON form of Solana's tools. */
  AUTHORITY_KEYPAIR: z.string().optional(),
  /** Signs in place of a keypair in a file; the key is then not on this machine. */
  AUTHORITY_SIGNER_URL: z
    .url({ protocol: /^https?$/ })
    .refine((url) => new URL(url).protocol === 'https:' || LOOPBACK.includes(new URL(url).hostname), {
      message: 'must be https, or on loopback',
    })
    .optional(),
  AUTHORITY_PUBLIC_KEY: publicKey.optional(),
  AUTHORITY_SIGNER_TOKEN: z.string().min(1).optional(),
  AUTHORITY_SIGNER_TOKEN_FILE: z.string().min(1).optional(),
  /** The key that the authority is handed over to; used as soon as the program accepts it. */
  NEXT_AUTHORITY_KEYPAIR: z.string().optional(),
  NEXT_AUTHORITY_PUBLIC_KEY: publicKey.optional(),
  /** 32 bytes in base64, from which every key that protects stored data is derived. */
  MASTER_KEY: key32.optional(),
  /** Seals stored data, in place of the master key; can be rotated while the server runs. */
  SEALING_KEY: key32.optional(),
  /** Former or coming sealing keys, separated by commas. They only open sealed data. */
  OTHER_SEALING_KEYS: z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(key32).max(8))
    .optional(),
  /** The most that a transaction pays beyond the base fee on a busy cluster, in lamports; 0 pays nothing. */
  MAX_PRIORITY_FEE_LAMPORTS: z.coerce.number().int().min(0).max(100_000).default(5_000),
  /** Below it, beside its rent-exempt minimum, the authority pays for charges in flight alone: 2,000 at the highest fee. */
  AUTHORITY_RESERVE_LAMPORTS: z.coerce.number().int().min(0).max(1_000_000_000_000).default(20_000_000),
  /** Confirmed and not yet final lamports of one wallet whose output has left; above it output waits for finality. */
  UNFINALIZED_CAP_LAMPORTS: z.coerce
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .default(1_000_000_000),
  /** USDC for 1 SOL, for callers that pay for a call in USDC. Absent: on a cluster without a feed none is taken. */
  USDC_RATE: usdcPrice.optional(),
  /** A feed that answers with JSON, in place of it. */
  USDC_RATE_URL: z.url({ protocol: /^https$/ }).optional(),
  /** The names on the way to the price in its answer. */
  USDC_RATE_PATH: z
    .string()
    .regex(/^[\w-]{1,60}(?:\.[\w-]{1,60}){0,9}$/, 'must be names, separated by points')
    .default('data.amount'),
  USDC_RATE_LEAST: usdcPrice.optional(),
  USDC_RATE_MOST: usdcPrice.optional(),
  USDC_RATE_MAX_AGE_SECONDS: z.coerce.number().int().min(30).max(86_400).default(300),
  /** The most that the authority gives for USDC within 24 hours, in lamports. */
  USDC_FLOAT_LAMPORTS: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(10_000_000_000),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(100),
  EXECUTIONS_PER_MINUTE: z.coerce.number().int().min(1).default(60),
  /** Absent: 60 on a cluster, and 0 on the local chain, whose wallets are new. */
  TRIAL_HOLD_MINUTES: z.coerce.number().int().min(0).max(1440).optional(),
  /** Runs of one listing that may wait for a slot. */
  QUEUE_MAX_LENGTH: z.coerce.number().int().min(0).max(1000).default(40),
  QUEUE_MAX_WAIT_SECONDS: z.coerce.number().int().min(1).max(300).default(30),
  /** How long a caller with an idempotency key may be away before its run is stopped. */
  RECONNECT_GRACE_SECONDS: z.coerce.number().int().min(0).max(300).default(30),
  SANDBOX_POOL_SIZE: z.coerce.number().int().min(1).max(200).default(4),
  SANDBOX_MAX_ACTIVE: z.coerce.number().int().min(1).max(1000).default(40),
  /** `auto`: E2B beside production parts where there is a key, else the best that works on this machine. */
  SANDBOX_DRIVER: z.enum(['auto', ...sandboxDriverNames]).default('auto'),
  E2B_API_KEY: z.string().min(1).optional(),
  E2B_TEMPLATE: z.string().min(1).optional(),
  /** Of an installation of one's own. */
  E2B_DOMAIN: z.string().min(1).optional(),
  /** In place of the addresses below the domain. */
  E2B_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  E2B_SANDBOX_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The limits of E2B's smallest plan. A run needs two sandboxes. */
  E2B_MAX_SANDBOXES: z.coerce.number().int().min(2).max(10_000).default(20),
  E2B_CREATES_PER_SECOND: z.coerce.number().positive().max(1_000).default(1),
  SANDBOX_MIN_ISOLATION: z.enum(isolationLevels).optional(),
  /** How long an MCP call waits for its run; then it answers with the run's id. Clients give up after 60 s. */
  MCP_WAIT_SECONDS: z.coerce.number().min(0.1).max(300).default(45),
  /** Bearer token that opens `/metrics`. */
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,500}$/, 'must be 16 or more visible ASCII characters')
    .optional(),
  /** A collector that takes OTLP over HTTP, where traces go. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** `name=value` pairs, separated by commas and percent-encoded, as OpenTelemetry has them. */
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(/^[^=,]+=[^=,]*(?:,[^=,]+=[^=,]*)*$/, 'must be name=value pairs, separated by commas')
    .optional(),
  OTEL_SERVICE_NAME: z.string().min(1).max(200).default('agent-rental'),
  /** Share of the traces that begin here which are recorded. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  /** Room on the disk of the state folder below which the embedded default begins nothing new. */
  DISK_RESERVE_MB: z.coerce.number().int().min(0).max(1_000_000).default(256),
  /** How long a stop waits for running runs. */
  DRAIN_TIMEOUT_SECONDS: z.coerce.number().int().min(0).max(600).default(30),
  /** Origins on this machine where creators try agents and models; for the embedded default, and on a local network. */
  ALLOW_LOOPBACK: list
    .pipe(
      z.array(
        z
          .string()
          .refine(
            (text) => {
              const url = URL.canParse(text) ? new URL(text) : undefined;
              return /^https?:$/.test(url?.protocol ?? '') && LOOPBACK.includes(url?.hostname ?? '');
            },
            { message: 'must be origins on loopback, for example http://127.0.0.1:9000', abort: true },
          )
          .transform((url) => new URL(url).origin),
      ),
    )
    .optional(),
  /** Read inputs at `ipfs://` that are not in the server's own store, the first one first. */
  IPFS_GATEWAY_URLS: urls.optional(),
  /** Kubo's HTTP API, where documents are stored, too. */
  IPFS_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  IPFS_API_TOKEN: z.string().min(1).optional(),
  /** Where documents are stored; with both kinds, the IPFS address goes on-chain. */
  CONTENT_STORES: z.enum(['ipfs', 'arweave', 'ipfs,arweave']).default('ipfs'),
  /** Read `ar://`, and confirm the uploads to the bundler, in this order. */
  ARWEAVE_GATEWAY_URLS: urls.optional(),
  /** The address of a bundler, without `/tx/arweave`. */
  ARWEAVE_BUNDLER_URL: z.url({ protocol: /^https?$/ }).optional(),
  ARWEAVE_KEY_FILE: z.string().min(1).optional(),
  /** Wallets that use the operator's console, separated by commas. */
  OPERATOR_WALLETS: list.pipe(z.array(publicKey)).optional(),
  /** The mail server that takes messages to people: `smtps://user:password@host` or `smtp://…:587`. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** The sender: an address, or `Name <address>`. */
  SMTP_FROM: z
    .string()
    .regex(
      /^(?:[^<>\r\n]{1,100} <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/,
      'must be an address, or Name <address>',
    )
    .optional(),
  REVIEW: z.enum(['automatic', 'operator']).optional(),
  /** `off` starts the embedded default without the example agents. */
  EXAMPLES: z.enum(['on', 'off']).default('on'),
  OPENAI_API_KEY: z.string().optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  MODEL_BASE_URL: z.url().optional(),
  MODEL_NAME: z.string().optional(),
  MODEL_API_KEY: z.string().optional(),
});

/** The parts that only a production server has. */
const PRODUCTION_PARTS = ['DATABASE_URL', 'SOLANA_RPC_URLS', 'REDIS_URL'] as const;

/** The server's configuration, checked and frozen. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** Absent: the API is reached on this machine alone. */
  readonly publicUrl: string | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted; empty: none. */
  readonly trustedProxies: readonly string[];
  readonly localChainPort: number;
  readonly localChainConsensus: z.infer<typeof environment>['LOCAL_CHAIN_CONSENSUS'];
  /** Absent: as its consensus has it. */
  readonly localChainSlotMs: number | undefined;
  readonly stateDir: string;
  readonly logLevel: z.infer<typeof environment>['LOG_LEVEL'];
  /** Absent: the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** Absent: limits are kept in memory, for one replica. */
  readonly redisUrl: string | undefined;
  readonly replicas: number;
  /** Absent: the local chain. */
  readonly solanaRpcUrls: readonly string[] | undefined;
  readonly network: 'localnet' | 'devnet' | 'mainnet';
  readonly programId: string | undefined;
  readonly authorityKeypair: string | undefined;
  /** The file of the key that takes over. */
  readonly nextAuthorityKeypair: string | undefined;
  /** Signs in place of the keypairs. */
  readonly authoritySigner: AuthoritySignerConfig | undefined;
  readonly masterKey: Uint8Array | undefined;
  readonly sealingKeys: SealingKeysConfig;
  /** The most that one transaction pays beyond the base fee. */
  readonly maxPriorityFeeLamports: bigint;
  /** The authority's reserve for the charges in flight; new Per-Task runs are refused below it. */
  readonly authorityReserveLamports: bigint;
  /** The most that charges of one wallet add up to that are not final yet and whose output has left. */
  readonly unfinalizedCapLamports: bigint;
  /** Absent: calls are paid for in SOL alone. */
  readonly usdc: UsdcConfig | undefined;
  readonly requestsPerMinute: number;
  readonly executionsPerMinute: number;
  /** How long a wallet without a rental must have held its SOL for a free first run. */
  readonly trialHoldSeconds: number;
  /** The queue of runs that wait for a slot of their listing. */
  readonly queue: { readonly maxLength: number; readonly maxWaitMs: number };
  /** How long a run goes on for a caller that has gone away and may come back. */
  readonly reconnectGraceMs: number;
  readonly sandbox: {
    readonly poolSize: number;
    readonly maxActive: number;
    /** Of this machine; `auto`: bubblewrap where it works, else Deno alone, which is announced. */
    readonly driver: LocalDriverChoice;
    readonly minIsolation: IsolationLevel;
    /** The lowest that may be asked for: beside production parts, on a real network, `runtime` is not enough. */
    readonly leastIsolation: 'runtime' | 'kernel';
    /** Set: E2B's sandboxes in place of this machine's. */
    readonly e2b: E2bConfig | undefined;
  };
  /** How long an MCP call waits for its run. */
  readonly mcpWaitMs: number;
  /** Host names under which MCP may be addressed; absent: any. */
  readonly mcpAllowedHosts: readonly string[] | undefined;
  /** Absent: the metrics can be read from this machine, and with production parts not at all. */
  readonly metricsToken: string | undefined;
  /** Wallets that use the operator's console; empty: there is no console. */
  readonly operatorWallets: ReadonlySet<string>;
  /** Where traces go; absent where they are not recorded. */
  readonly tracing: TracingOptions | undefined;
  /** The longest that a stop waits for running runs, before it hands them over. */
  readonly diskReserveBytes: number;
  readonly drainTimeoutMs: number;
  /** Origins on this machine that creators' agents and models may be called at. Absent: beside production parts, none may. */
  readonly allowedLoopback: readonly string[] | undefined;
  readonly storage: StorageConfig;
  /** Absent: the service sends no e-mail. */
  readonly smtp: SmtpConfig | undefined;
  /** Who approves the first version of a listing. */
  readonly review: 'automatic' | 'operator';
  readonly examples: boolean;
  /** Sentences about variables that are set and have no effect. */
  readonly unused: readonly string[];
  /** Model settings that are handed to the examples, which play a creator. */
  readonly exampleModel: Readonly<Record<string, string>>;
}

/** Payments in USDC. Prices are USDC for 1 SOL, as text. */
export interface UsdcConfig {
  readonly rate:
    | { readonly fixed: string }
    | {
        readonly url: string;
        readonly path: readonly string[];
        readonly least: string;
        readonly most: string;
        readonly maximalAgeMs: number;
      };
  /** The most that the till gives for USDC within 24 hours. */
  readonly floatLamports: bigint;
}

/** An external signer of the authority's transactions. */
export interface AuthoritySignerConfig {
  readonly url: string;
  readonly publicKey: string;
  readonly nextPublicKey: string | undefined;
  /** The bearer token, or the file that holds it. */
  readonly token: { readonly value: string } | { readonly file: string };
}

/** The mail server, and the sender of messages to people. */
export interface SmtpConfig {
  /** With its password. */
  readonly url: string;
  readonly from: string;
}

/** Where public content is read and written, beside the server's own store. */
export interface StorageConfig {
  /** Empty: `ipfs://` reads only content that the server stored. */
  readonly ipfsGateways: readonly string[];
  /** Empty: `ar://` is not read. */
  readonly arweaveGateways: readonly string[];
  /** Whether documents are blocks of the server's own, with an IPFS address. */
  readonly keepsBlocks: boolean;
  /** The bundler that brings documents to Arweave, and the key file of the wallet that signs them. */
  readonly arweave: { readonly bundlerUrl: string; readonly keyFile: string } | undefined;
  /** The IPFS node that stores documents, too. */
  readonly ipfsNode: { readonly url: string; readonly token: string | undefined } | undefined;
}

/** The account of E2B that agents run on, and its limits. */
export interface E2bConfig {
  readonly apiKey: string;
  readonly template: string | undefined;
  readonly domain: string | undefined;
  readonly apiUrl: string | undefined;
  readonly sandboxUrl: string | undefined;
  readonly maxSandboxes: number;
  readonly createsPerSecond: number;
}

/** The environment is not as it should be; the message names each variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

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

/** The keys of stored data. */
export interface SealingKeysConfig {
  /** Absent: the master key's. */
  readonly present: Uint8Array | undefined;
  readonly others: readonly Uint8Array[];
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

/** With a SEALING_KEY, the master key still opens its older sealed data. */
function sealingKeysOf({
  MASTER_KEY: master,
  SEALING_KEY: present,
  OTHER_SEALING_KEYS: others = [],
}: {
  MASTER_KEY?: string | undefined;
  SEALING_KEY?: string | undefined;
  OTHER_SEALING_KEYS?: string[] | undefined;
}): SealingKeysConfig {
  const opening = present === undefined || master === undefined ? others : [...others, master];
  return {
    present: present === undefined ? undefined : Buffer.from(present, 'base64'),
    others: opening.map((key) => Buffer.from(key, 'base64')),
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

/**
 * Reads the environment once.
 *
 * @throws ConfigError naming every variable that is wrong.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const value = parseEnvironment(environment, env);
  const production = value.NODE_ENV === 'production';
  const embedded = value.DATABASE_URL === undefined && value.SOLANA_RPC_URLS === undefined;
  if (!embedded) {
    const needed = ['DATABASE_URL', 'SOLANA_RPC_URLS', 'AUTHORITY_KEYPAIR', 'MASTER_KEY'] as const;
    const missing = needed.filter(
      (name) =>
        value[name] === undefined &&
        !(name === 'AUTHORITY_KEYPAIR' && value.AUTHORITY_SIGNER_URL !== undefined),
    );
    if (missing.length > 0) {
      throw new ConfigError(
        `Beside the embedded default the server also needs ${missing.join(', ')}. ` +
          'Unset DATABASE_URL and SOLANA_RPC_URLS to run on the embedded default.',
      );
    }
  }
  const parts = PRODUCTION_PARTS.filter((name) => value[name] !== undefined);
  // On a local network all money is test money. The start compares this word with the endpoints.
  const guarded = value.SOLANA_NETWORK === 'localnet' ? [] : parts;
  if (guarded.length > 0 && value.SANDBOX_MIN_ISOLATION === 'runtime') {
    throw new ConfigError(
      `SANDBOX_MIN_ISOLATION=runtime is for the embedded default, and ${guarded.join(', ')} is set. At level "runtime" a ` +
        'flaw of Deno opens all that the server can reach. Unset SANDBOX_MIN_ISOLATION and install bubblewrap, or set ' +
        'E2B_API_KEY.',
    );
  }
  if (guarded.length > 0 && value.ALLOW_LOOPBACK !== undefined) {
    throw new ConfigError(
      `ALLOW_LOOPBACK is for the embedded default, and ${guarded.join(', ')} is set: with production parts agents and ` +
        'models are called at public addresses alone. Unset ALLOW_LOOPBACK.',
    );
  }
  if (value.MODEL_BASE_URL !== undefined && value.MODEL_NAME === undefined) {
    throw new ConfigError('MODEL_BASE_URL also needs MODEL_NAME: the name of a model there.');
  }
  const leastIsolation: 'kernel' | 'runtime' = guarded.length > 0 ? 'kernel' : 'runtime';
  const model = [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'MODEL_BASE_URL',
    'MODEL_NAME',
    'MODEL_API_KEY',
  ] as const;
  return Object.freeze({
    production,
    host: value.HOST,
    port: value.PORT,
    publicUrl: value.PUBLIC_URL,
    trustedProxies: value.TRUSTED_PROXIES ?? [],
    localChainPort: value.LOCAL_CHAIN_PORT,
    localChainConsensus: value.LOCAL_CHAIN_CONSENSUS,
    localChainSlotMs: value.LOCAL_CHAIN_SLOT_MS,
    stateDir: value.STATE_DIR,
    logLevel: value.LOG_LEVEL,
    databaseUrl: value.DATABASE_URL,
    redisUrl: value.REDIS_URL,
    replicas: value.REPLICAS,
    solanaRpcUrls: value.SOLANA_RPC_URLS,
    network: value.SOLANA_NETWORK ?? (embedded ? 'localnet' : 'devnet'),
    programId: value.PROGRAM_ID,
    authorityKeypair: value.AUTHORITY_KEYPAIR,
    nextAuthorityKeypair: value.NEXT_AUTHORITY_KEYPAIR,
    authoritySigner: authoritySignerConfig(value),
    masterKey: value.MASTER_KEY ? Buffer.from(value.MASTER_KEY, 'base64') : undefined,
    sealingKeys: sealingKeysOf(value),
    maxPriorityFeeLamports: BigInt(value.MAX_PRIORITY_FEE_LAMPORTS),
    authorityReserveLamports: BigInt(value.AUTHORITY_RESERVE_LAMPORTS),
    unfinalizedCapLamports: BigInt(value.UNFINALIZED_CAP_LAMPORTS),
    usdc: usdcConfig(value, embedded),
    requestsPerMinute: value.RATE_LIMIT_PER_MINUTE,
    executionsPerMinute: value.EXECUTIONS_PER_MINUTE,
    trialHoldSeconds: 60 * (value.TRIAL_HOLD_MINUTES ?? (value.SOLANA_RPC_URLS === undefined ? 0 : 60)),
    queue: { maxLength: value.QUEUE_MAX_LENGTH, maxWaitMs: value.QUEUE_MAX_WAIT_SECONDS * 1000 },
    reconnectGraceMs: value.RECONNECT_GRACE_SECONDS * 1000,
    sandbox: {
      poolSize: value.SANDBOX_POOL_SIZE,
      maxActive: value.SANDBOX_MAX_ACTIVE,
      driver: value.SANDBOX_DRIVER === 'e2b' ? 'auto' : value.SANDBOX_DRIVER,
      minIsolation:
        value.SANDBOX_MIN_ISOLATION ?? (production || parts.length > 0 ? 'kernel' : leastIsolation),
      leastIsolation,
      e2b: e2bConfig(value, embedded),
    },
    mcpWaitMs: value.MCP_WAIT_SECONDS * 1000,
    // A web page in the browser could attack a server for this machine alone.
    mcpAllowedHosts:
      embedded && value.PUBLIC_URL === undefined && LOOPBACK.includes(value.HOST) ? LOOPBACK : undefined,
    metricsToken: value.METRICS_TOKEN,
    operatorWallets: new Set(value.OPERATOR_WALLETS),
    tracing: tracingConfig(value),
    diskReserveBytes: value.DISK_RESERVE_MB * 1_048_576,
    drainTimeoutMs: value.DRAIN_TIMEOUT_SECONDS * 1000,
    allowedLoopback: value.ALLOW_LOOPBACK ?? (parts.length > 0 ? undefined : TRIED_ORIGINS),
    storage: storageConfig(value),
    smtp: smtpConfig(value),
    review: value.REVIEW ?? (embedded ? 'automatic' : 'operator'),
    examples: embedded && value.EXAMPLES === 'on',
    unused: embedded ? unusedWhenEmbedded(value) : [],
    exampleModel: Object.fromEntries(
      model.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])),
    ),
  });
}

/** The price of test money, of which a local chain gives any amount. */
const LOCAL_USDC_RATE = '150';

/** @throws ConfigError for two prices, or a feed without bounds. */
function usdcConfig(value: z.output<typeof environment>, embedded: boolean): UsdcConfig | undefined {
  const { USDC_RATE: given, USDC_RATE_URL: url, USDC_RATE_LEAST: least, USDC_RATE_MOST: most } = value;
  const floatLamports = BigInt(value.USDC_FLOAT_LAMPORTS);
  if (url === undefined) {
    const fixed = given ?? (embedded ? LOCAL_USDC_RATE : undefined);
    return fixed === undefined ? undefined : { rate: { fixed }, floatLamports };
  }
  if (given !== undefined) throw new ConfigError('Set USDC_RATE or USDC_RATE_URL, not both.');
  if (least === undefined || most === undefined || Number(least) > Number(most))
    throw new ConfigError('USDC_RATE_URL also needs USDC_RATE_LEAST and a higher USDC_RATE_MOST.');
  const path = value.USDC_RATE_PATH.split('.');
  const maximalAgeMs = value.USDC_RATE_MAX_AGE_SECONDS * 1000;
  return { rate: { url, path, least, most, maximalAgeMs }, floatLamports };
}

/** Where traces go. @throws ConfigError for headers that cannot be read. */
function tracingConfig(value: z.output<typeof environment>): Config['tracing'] {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: given } = value;
  if (endpoint === undefined) return undefined;
  try {
    const headers = Object.fromEntries(
      (given?.split(',') ?? []).map((pair) => {
        const [name = '', text = ''] = pair.split('=');
        return [name.trim(), decodeURIComponent(text.trim())];
      }),
    );
    const { OTEL_SERVICE_NAME: serviceName, OTEL_TRACES_SAMPLER_ARG: sampleRatio } = value;
    return { endpoint, headers, serviceName, sampleRatio };
  } catch {
    throw new ConfigError('OTEL_EXPORTER_OTLP_HEADERS has a value that is not percent-encoded.');
  }
}

/** Names variables that are set and have no effect on the embedded default, so that no operator relies on them. */
function unusedWhenEmbedded(value: z.output<typeof environment>): string[] {
  const ofProduction = ['AUTHORITY_KEYPAIR', 'AUTHORITY_SIGNER_URL', 'MASTER_KEY'] as const;
  const isForeignSandbox = value.SANDBOX_DRIVER !== 'e2b' && value.E2B_API_KEY !== undefined;
  return [
    ...(isForeignSandbox
      ? ['E2B_API_KEY is not used: agents run on this machine. SANDBOX_DRIVER=e2b runs them at E2B.']
      : []),
    ...ofProduction
      .filter((name) => value[name] !== undefined)
      .map((name) => `${name} is not used: the embedded default makes its own keys.`),
  ];
}

/** @throws ConfigError for an external signer without one of its parts, or beside a keypair. */
function authoritySignerConfig(value: z.output<typeof environment>): AuthoritySignerConfig | undefined {
  const {
    AUTHORITY_SIGNER_URL: url,
    AUTHORITY_PUBLIC_KEY: key,
    AUTHORITY_SIGNER_TOKEN: token,
    AUTHORITY_SIGNER_TOKEN_FILE: file,
    NEXT_AUTHORITY_PUBLIC_KEY: nextPublicKey,
  } = value;
  if (url === undefined) {
    if (nextPublicKey === undefined && key === undefined && token === undefined && file === undefined)
      return undefined;
    throw new ConfigError('AUTHORITY_PUBLIC_KEY and AUTHORITY_SIGNER_TOKEN are for AUTHORITY_SIGNER_URL.');
  }
  if (value.AUTHORITY_KEYPAIR !== undefined || value.NEXT_AUTHORITY_KEYPAIR !== undefined) {
    throw new ConfigError('AUTHORITY_SIGNER_URL takes the place of AUTHORITY_KEYPAIR: unset one of them.');
  }
  if (key === undefined) throw new ConfigError('AUTHORITY_SIGNER_URL also needs AUTHORITY_PUBLIC_KEY.');
  if ((token === undefined) === (file === undefined)) {
    throw new ConfigError(
      'AUTHORITY_SIGNER_URL also needs one of AUTHORITY_SIGNER_TOKEN and AUTHORITY_SIGNER_TOKEN_FILE.',
    );
  }
  return {
    url,
    publicKey: key,
    nextPublicKey,
    token: token === undefined ? { file: file ?? '' } : { value: token },
  };
}

/** @throws ConfigError for one of the two alone. */
function smtpConfig({ SMTP_URL: url, SMTP_FROM: from }: z.output<typeof environment>): Config['smtp'] {
  if (url !== undefined && from !== undefined) return { url, from };
  if (url === undefined && from === undefined) return undefined;
  throw new ConfigError('E-mail needs both SMTP_URL, the mail server, and SMTP_FROM, the sender.');
}

/** @throws ConfigError for a token without its node, or a node beside Arweave alone. */
function storageConfig(value: z.output<typeof environment>): StorageConfig {
  const nodeUrl = value.IPFS_API_URL;
  if (nodeUrl === undefined && value.IPFS_API_TOKEN !== undefined)
    throw new ConfigError('IPFS_API_TOKEN is for IPFS_API_URL.');
  const keepsBlocks = value.CONTENT_STORES !== 'arweave';
  if (!keepsBlocks && nodeUrl !== undefined)
    throw new ConfigError('IPFS_API_URL stores documents on IPFS, too: set CONTENT_STORES=ipfs,arweave.');
  return {
    ipfsGateways: value.IPFS_GATEWAY_URLS ?? [],
    arweaveGateways: value.ARWEAVE_GATEWAY_URLS ?? [],
    keepsBlocks,
    arweave: arweaveConfig(value),
    ipfsNode: nodeUrl === undefined ? undefined : { url: nodeUrl, token: value.IPFS_API_TOKEN },
  };
}

/** @throws ConfigError when a variable that the bundler needs is missing, or CONTENT_STORES does not use the bundler. */
function arweaveConfig(value: z.output<typeof environment>): StorageConfig['arweave'] {
  const {
    ARWEAVE_BUNDLER_URL: bundlerUrl,
    ARWEAVE_KEY_FILE: keyFile,
    ARWEAVE_GATEWAY_URLS: gateways = [],
  } = value;
  if (value.CONTENT_STORES === 'ipfs') {
    if (bundlerUrl === undefined && keyFile === undefined) return undefined;
    throw new ConfigError(
      'ARWEAVE_BUNDLER_URL and ARWEAVE_KEY_FILE store documents on Arweave: set CONTENT_STORES=ipfs,arweave.',
    );
  }
  if (bundlerUrl === undefined || keyFile === undefined || gateways.length === 0) {
    throw new ConfigError(
      'Storing on Arweave needs ARWEAVE_BUNDLER_URL, ARWEAVE_KEY_FILE and ARWEAVE_GATEWAY_URLS, where it is read back.',
    );
  }
  return { bundlerUrl, keyFile };
}

/** The embedded default uses no paid account unless it is told to. */
function e2bConfig(value: z.output<typeof environment>, embedded: boolean): E2bConfig | undefined {
  const { SANDBOX_DRIVER: driver, E2B_API_KEY: apiKey } = value;
  switch (driver) {
    case 'deno':
    case 'bubblewrap':
      return undefined;
    case 'auto':
      if (embedded || apiKey === undefined) return undefined;
      break;
    case 'e2b':
      break;
    default:
      return driver satisfies never;
  }
  if (apiKey === undefined) throw new ConfigError('SANDBOX_DRIVER=e2b also needs E2B_API_KEY.');
  return {
    apiKey,
    template: value.E2B_TEMPLATE,
    domain: value.E2B_DOMAIN,
    apiUrl: value.E2B_API_URL,
    sandboxUrl: value.E2B_SANDBOX_URL,
    maxSandboxes: value.E2B_MAX_SANDBOXES,
    createsPerSecond: value.E2B_CREATES_PER_SECOND,
  };
}

function parseEnvironment<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`);
  throw new ConfigError(`The environment is not valid. ${lines.join('; ')}`);
}
