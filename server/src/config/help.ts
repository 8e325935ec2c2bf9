import * as z from 'zod';
import { environment } from './environment.js';

/** The meaning of each variable, in the order of `--help`. A variable without an entry does not compile. */
const MEANINGS: Readonly<Record<keyof typeof environment.shape, string>> = {
  PORT: 'port of the HTTP API',
  HOST: 'address on which the HTTP API listens',
  PUBLIC_URL: 'where callers reach the API from outside; wallets sign in to its domain',
  TRUSTED_PROXIES: 'addresses and ranges of proxies whose X-Forwarded-For counts, separated by commas',
  STATE_DIR: 'folder in which everything is kept',
  LOG_LEVEL: 'level of the JSON log',
  EXAMPLES: 'off: starts without the example agents',
  OPENAI_API_KEY: 'model of the example agents, in place of the offline one',
  ANTHROPIC_API_KEY: 'the same, at Anthropic',
  MODEL_BASE_URL: 'the same, at an endpoint that speaks like OpenAI, with MODEL_NAME',
  MODEL_NAME: 'name of the model at MODEL_BASE_URL',
  MODEL_API_KEY: 'key for MODEL_BASE_URL',
  LOCAL_CHAIN_PORT: "port of the local chain's RPC; its websocket is on the next one",
  LOCAL_CHAIN_CONSENSUS: 'finality of the local chain: alpenglow after 2 slots, tower after 32',
  LOCAL_CHAIN_SLOT_MS: 'time of a slot of the local chain; 400 with tower, 200 with alpenglow',
  SANDBOX_DRIVER: 'isolation of agents; auto takes the strongest that works',
  SANDBOX_MIN_ISOLATION: 'refuses to start below this isolation',
  SANDBOX_POOL_SIZE: 'sandboxes that are started before they are needed',
  SANDBOX_MAX_ACTIVE: 'sandboxes at once',
  E2B_API_KEY: 'key of an E2B account, used with production parts or SANDBOX_DRIVER=e2b',
  E2B_TEMPLATE: 'E2B template with Node 20 or newer, in place of base',
  E2B_DOMAIN: 'domain of a private installation of E2B',
  E2B_API_URL: 'address of its API, in place of the domain',
  E2B_SANDBOX_URL: 'address of its sandboxes, with E2B_API_URL',
  E2B_MAX_SANDBOXES: 'machines that the E2B plan allows, less other uses of the account',
  E2B_CREATES_PER_SECOND: 'machines that the E2B plan starts in a second',
  RATE_LIMIT_PER_MINUTE: 'requests of one API key or wallet in a minute',
  EXECUTIONS_PER_MINUTE: 'runs of one credential in a minute, where the listing sets none',
  TRIAL_HOLD_MINUTES:
    'how long a wallet without a rental must have held 0.05 SOL for a free first run; 60 on a cluster, else 0',
  QUEUE_MAX_LENGTH: 'runs of one listing that may wait for a slot',
  QUEUE_MAX_WAIT_SECONDS: 'how long a run waits for a slot',
  RECONNECT_GRACE_SECONDS: 'how long a run with an Idempotency-Key goes on without its caller',
  MCP_WAIT_SECONDS: 'how long an MCP call waits for its run before it answers with the id of the run',
  DISK_RESERVE_MB: 'free space below which the embedded default begins nothing new',
  DRAIN_TIMEOUT_SECONDS: 'how long a stop waits for running runs',
  OPERATOR_WALLETS: "wallets that use the operator's console, separated by commas",
  METRICS_TOKEN: 'bearer token of /metrics',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'collector that takes traces by OTLP over HTTP',
  OTEL_EXPORTER_OTLP_HEADERS: 'headers for it, as name=value pairs separated by commas',
  OTEL_SERVICE_NAME: 'name of this service in traces',
  OTEL_TRACES_SAMPLER_ARG: 'share of the traces that begin here which are recorded, 0 to 1',
  ALLOW_LOOPBACK: 'origins on this machine where agents and models may be called, separated by commas',
  IPFS_GATEWAY_URLS: 'IPFS gateways for inputs at ipfs://, separated by commas',
  IPFS_API_URL: 'HTTP API of an IPFS node (Kubo) that stores manifests, too',
  IPFS_API_TOKEN: 'bearer token for it',
  CONTENT_STORES: 'where manifests are stored: ipfs, arweave or ipfs,arweave',
  ARWEAVE_GATEWAY_URLS: 'Arweave gateways for inputs at ar://, separated by commas',
  ARWEAVE_BUNDLER_URL: 'bundler that brings manifests to Arweave, without /tx/arweave',
  ARWEAVE_KEY_FILE: 'key file (JWK) of the wallet that signs them',
  SMTP_URL: 'mail server for messages about events, smtps:// or smtp://, with user and password',
  SMTP_FROM: 'sender of these messages: an address, or Name <address>',
  REVIEW: 'who approves the first version of a listing',
  NODE_ENV: 'production raises the default isolation',
  DATABASE_URL: 'PostgreSQL, in place of the embedded one; needs the next three as well',
  SOLANA_RPC_URLS:
    'RPC endpoints, in place of the local chain, separated by commas; two or more check each other',
  AUTHORITY_KEYPAIR: "file with the hot authority's keypair; AUTHORITY_SIGNER_URL takes its place",
  AUTHORITY_SIGNER_URL: 'signer that holds the key of the authority, https or on loopback',
  AUTHORITY_PUBLIC_KEY: 'the public key that it signs with',
  AUTHORITY_SIGNER_TOKEN: 'bearer token for it',
  AUTHORITY_SIGNER_TOKEN_FILE: 'file with that token, in its place',
  NEXT_AUTHORITY_KEYPAIR: 'file with the keypair that takes over once the program accepts it',
  NEXT_AUTHORITY_PUBLIC_KEY: 'the same, of a key of the signer',
  MASTER_KEY: '32 bytes in base64, from which all keys for stored data are derived',
  SEALING_KEY: '32 bytes in base64 that seal stored data in place of MASTER_KEY; can be rotated',
  OTHER_SEALING_KEYS: 'former or coming sealing keys, separated by commas, while SEALING_KEY is rotated',
  SOLANA_NETWORK: 'network, which decides the prefix of API keys',
  PROGRAM_ID: 'address of the program, where it is not the default one',
  MAX_PRIORITY_FEE_LAMPORTS: 'lamports that a transaction pays beyond the base fee at most',
  AUTHORITY_RESERVE_LAMPORTS:
    'lamports of the authority for charges in flight; below it Per-Task runs are refused',
  USDC_RATE:
    'USDC for 1 SOL, for calls that are paid for in USDC; 150 on the local chain, else none is taken',
  USDC_RATE_URL: 'price feed in place of it, https, that answers with JSON',
  USDC_RATE_PATH: 'names on the way to the price in the answer of the feed, separated by points',
  USDC_RATE_LEAST: 'least price of the feed that is believed',
  USDC_RATE_MOST: 'highest price of the feed that is believed',
  USDC_RATE_MAX_AGE_SECONDS: 'age after which a price of the feed counts no more',
  USDC_FLOAT_LAMPORTS: 'lamports that the authority gives for USDC within 24 hours at most',
  UNFINALIZED_CAP_LAMPORTS:
    'lamports of charges of one wallet that may be unfinalized while their output leaves',
  REDIS_URL: 'Redis for the limits that replicas share',
  REPLICAS: 'replicas that share the limits',
};

/** The members of a variable's JSON Schema that the help shows. */
interface ShownSchema {
  enum?: string[];
  default?: string | number;
  minimum?: number;
  maximum?: number;
}

/** Describes every variable of the environment: its meaning, its values and its default, from the schema that checks it. */
export function environmentHelp(): string {
  const { properties = {} } = z.toJSONSchema(environment, { unrepresentable: 'any' });
  const width = Math.max(...Object.keys(MEANINGS).map((name) => name.length));
  return Object.entries(MEANINGS)
    .map(([name, meaning]) => {
      const schema = properties[name] as ShownSchema;
      const details = [
        ...(schema.enum ? [schema.enum.join(' | ')] : []),
        ...(schema.minimum !== undefined &&
        schema.maximum !== undefined &&
        schema.maximum < Number.MAX_SAFE_INTEGER
          ? [`${schema.minimum} to ${schema.maximum}`]
          : []),
        ...(schema.default !== undefined ? [`default ${schema.default}`] : []),
      ];
      return `  ${name.padEnd(width)}  ${meaning}${details.length > 0 ? ` (${details.join('; ')})` : ''}\n`;
    })
    .join('');
}
