import { isolationLevels, sandboxDriverNames } from '@agent-rental/sandbox';
import * as z from 'zod';

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
export const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** The default origins of an agent that the sdk serves, and of the command line's practice model. */
export const TRIED_ORIGINS: readonly string[] = ['http://127.0.0.1:8788', 'http://127.0.0.1:8789'];

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

/** The checked variables. */
export type Environment = z.output<typeof environment>;

/** The environment is not as it should be; the message names each variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Checks variables; an empty one counts as absent. @throws ConfigError naming every wrong variable. */
export function parseEnvironment<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`);
  throw new ConfigError(`The environment is not valid. ${lines.join('; ')}`);
}
