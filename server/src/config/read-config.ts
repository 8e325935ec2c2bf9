import type { Config } from './config.js';
import { ConfigError, environment, LOOPBACK, parseEnvironment, TRIED_ORIGINS } from './environment.js';
import {
  authoritySignerConfig,
  e2bConfig,
  sealingKeysOf,
  smtpConfig,
  storageConfig,
  tracingConfig,
  unusedWhenEmbedded,
  usdcConfig,
} from './parts.js';

/** The parts that only a production server has. */
const PRODUCTION_PARTS = ['DATABASE_URL', 'SOLANA_RPC_URLS', 'REDIS_URL'] as const;

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
