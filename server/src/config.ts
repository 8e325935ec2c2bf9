import * as z from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** Every variable of the environment that the server reads. Nothing else reads `process.env`. */
const environment = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8787),
  /** Where callers reach the API from outside; wallets sign in to it. */
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  LOCAL_CHAIN_PORT: port.default(8899),
  STATE_DIR: z.string().min(1).default('.agent-rental'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  SOLANA_RPC_URLS: list.pipe(z.array(z.url()).min(1)).optional(),
  SOLANA_NETWORK: z.enum(['localnet', 'devnet', 'mainnet']).optional(),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** How many replicas share the limits; each takes its share while Redis is out. */
  REPLICAS: z.coerce.number().int().min(1).max(1000).default(1),
  PROGRAM_ID: z.string().optional(),
  /** File with the hot authority's keypair, in the JSON form of Solana's tools. */
  AUTHORITY_KEYPAIR: z.string().optional(),
  /** 32 bytes in base64, from which every key that protects stored data is derived. */
  MASTER_KEY: z
    .base64()
    .refine((value) => Buffer.from(value, 'base64').length === 32, 'must be 32 bytes in base64')
    .optional(),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(100),
  EXECUTIONS_PER_MINUTE: z.coerce.number().int().min(1).default(60),
  SANDBOX_POOL_SIZE: z.coerce.number().int().min(1).max(200).default(4),
  SANDBOX_MAX_ACTIVE: z.coerce.number().int().min(1).max(1000).default(40),
  SANDBOX_MIN_ISOLATION: z.enum(['runtime', 'kernel', 'microvm']).optional(),
  /** Opens `/metrics` to whoever sends it as a bearer token. */
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,500}$/, 'must be 16 or more visible ASCII characters')
    .optional(),
  /** How long a stop waits for running runs. */
  DRAIN_TIMEOUT_SECONDS: z.coerce.number().int().min(0).max(600).default(30),
  REVIEW: z.enum(['automatic', 'operator']).optional(),
  /** `off` starts the embedded default without the example agents. */
  EXAMPLES: z.enum(['on', 'off']).default('on'),
  OPENAI_API_KEY: z.string().optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  MODEL_BASE_URL: z.url().optional(),
  MODEL_NAME: z.string().optional(),
  MODEL_API_KEY: z.string().optional(),
});

/** What the server was told, checked and frozen. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  readonly port: number;
  /** Absent: the API is reached on this machine alone. */
  readonly publicUrl: string | undefined;
  readonly localChainPort: number;
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
  readonly masterKey: Uint8Array | undefined;
  readonly requestsPerMinute: number;
  readonly executionsPerMinute: number;
  readonly sandbox: {
    readonly poolSize: number;
    readonly maxActive: number;
    readonly minIsolation: 'runtime' | 'kernel' | 'microvm';
  };
  /** Absent: the metrics can be read from this machine, and with production parts not at all. */
  readonly metricsToken: string | undefined;
  /** The longest that a stop waits for running runs, before it hands them over. */
  readonly drainTimeoutMs: number;
  /** Who approves the first version of a listing. */
  readonly review: 'automatic' | 'operator';
  readonly examples: boolean;
  /** Model settings that are handed to the examples, which play a creator. */
  readonly exampleModel: Readonly<Record<string, string>>;
}

/** The environment is not as it should be; the message names each variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** What the operator's command line is told. */
export interface OperatorConfig {
  /** Absent: the database of the server that runs on the state folder. */
  readonly databaseUrl: string | undefined;
  readonly stateDir: string;
}

/** Reads what the operator's command line needs. @throws ConfigError naming every variable that is wrong. */
export function readOperatorConfig(env: NodeJS.ProcessEnv): OperatorConfig {
  const value = parseEnvironment(environment.pick({ DATABASE_URL: true, STATE_DIR: true }), env);
  return { databaseUrl: value.DATABASE_URL, stateDir: value.STATE_DIR };
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
    const missing = (['DATABASE_URL', 'SOLANA_RPC_URLS', 'AUTHORITY_KEYPAIR', 'MASTER_KEY'] as const).filter(
      (name) => value[name] === undefined,
    );
    if (missing.length > 0) {
      throw new ConfigError(
        `Beside the embedded default the server also needs ${missing.join(', ')}. ` +
          'Unset DATABASE_URL and SOLANA_RPC_URLS to run on the embedded default.',
      );
    }
  }
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
    localChainPort: value.LOCAL_CHAIN_PORT,
    stateDir: value.STATE_DIR,
    logLevel: value.LOG_LEVEL,
    databaseUrl: value.DATABASE_URL,
    redisUrl: value.REDIS_URL,
    replicas: value.REPLICAS,
    solanaRpcUrls: value.SOLANA_RPC_URLS,
    network: value.SOLANA_NETWORK ?? (embedded ? 'localnet' : 'devnet'),
    programId: value.PROGRAM_ID,
    authorityKeypair: value.AUTHORITY_KEYPAIR,
    masterKey: value.MASTER_KEY ? Buffer.from(value.MASTER_KEY, 'base64') : undefined,
    requestsPerMinute: value.RATE_LIMIT_PER_MINUTE,
    executionsPerMinute: value.EXECUTIONS_PER_MINUTE,
    sandbox: {
      poolSize: value.SANDBOX_POOL_SIZE,
      maxActive: value.SANDBOX_MAX_ACTIVE,
      minIsolation: value.SANDBOX_MIN_ISOLATION ?? (production ? 'kernel' : 'runtime'),
    },
    metricsToken: value.METRICS_TOKEN,
    drainTimeoutMs: value.DRAIN_TIMEOUT_SECONDS * 1000,
    review: value.REVIEW ?? (embedded ? 'automatic' : 'operator'),
    examples: embedded && value.EXAMPLES === 'on',
    exampleModel: Object.fromEntries(
      model.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])),
    ),
  });
}

function parseEnvironment<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(`The environment is not valid. ${lines.join('; ')}`);
}
