import type {
  AuthoritySignerConfig,
  Config,
  E2bConfig,
  SealingKeysConfig,
  StorageConfig,
  UsdcConfig,
} from './config.js';
import { ConfigError, type Environment } from './environment.js';

/** The price of test money, of which a local chain gives any amount. */
const LOCAL_USDC_RATE = '150';

/** @throws ConfigError for two prices, or a feed without bounds. */
export function usdcConfig(value: Environment, embedded: boolean): UsdcConfig | undefined {
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
export function tracingConfig(value: Environment): Config['tracing'] {
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
export function unusedWhenEmbedded(value: Environment): string[] {
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
export function authoritySignerConfig(value: Environment): AuthoritySignerConfig | undefined {
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
export function smtpConfig({ SMTP_URL: url, SMTP_FROM: from }: Environment): Config['smtp'] {
  if (url !== undefined && from !== undefined) return { url, from };
  if (url === undefined && from === undefined) return undefined;
  throw new ConfigError('E-mail needs both SMTP_URL, the mail server, and SMTP_FROM, the sender.');
}

/** @throws ConfigError for a token without its node, or a node beside Arweave alone. */
export function storageConfig(value: Environment): StorageConfig {
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
function arweaveConfig(value: Environment): StorageConfig['arweave'] {
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
export function e2bConfig(value: Environment, embedded: boolean): E2bConfig | undefined {
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

/** With a SEALING_KEY, the master key still opens its older sealed data. */
export function sealingKeysOf({
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
