import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './index.js';

const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://user:secret@db.example.com/market',
  SOLANA_RPC_URLS: 'https://rpc-1.example.com, https://rpc-2.example.com',
  AUTHORITY_KEYPAIR: '/run/secrets/authority.json',
  MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
};

describe('the environment', () => {
  it('may be empty: then it is the embedded default', () => {
    expect(readConfig({})).toMatchObject({
      production: false,
      host: '127.0.0.1',
      port: 8787,
      stateDir: '.agent-rental',
      databaseUrl: undefined,
      network: 'localnet',
      requestsPerMinute: 100,
      executionsPerMinute: 60,
      trialHoldSeconds: 0,
      review: 'automatic',
      examples: true,
      sandbox: { driver: 'auto', minIsolation: 'runtime' },
    });
  });

  it('takes a token only with the IPFS node that it is for [REG-50]', () => {
    const node = { IPFS_API_URL: 'http://127.0.0.1:5001' };
    expect(readConfig(node).storage.ipfsNode).toEqual({ url: node.IPFS_API_URL, token: undefined });
    expect(() => readConfig({ IPFS_API_TOKEN: 'token' })).toThrow('IPFS_API_TOKEN');
    expect(() => readConfig({ SMTP_URL: 'smtps://mail.example' })).toThrow('SMTP_FROM');
  });

  it('stores on Arweave only with a bundler, a key and a gateway that confirms [REG-50]', () => {
    const parts = {
      ARWEAVE_BUNDLER_URL: 'https://upload.example.com/v1',
      ARWEAVE_KEY_FILE: 'key.json',
      ARWEAVE_GATEWAY_URLS: 'https://arweave.net',
    };
    const arweave = { bundlerUrl: parts.ARWEAVE_BUNDLER_URL, keyFile: 'key.json' };
    for (const [stores, keepsBlocks] of [
      ['arweave', false],
      ['ipfs,arweave', true],
    ] as const) {
      const { storage } = readConfig({ ...parts, CONTENT_STORES: stores });
      expect(storage).toMatchObject({ arweave, keepsBlocks, arweaveGateways: ['https://arweave.net'] });
      for (const missing of Object.keys(parts)) {
        const rest = { ...parts, CONTENT_STORES: stores, [missing]: undefined };
        expect(() => readConfig(rest)).toThrow('ARWEAVE_BUNDLER_URL, ARWEAVE_KEY_FILE and');
      }
    }
    expect(readConfig({}).storage).toMatchObject({ arweave: undefined, keepsBlocks: true });
    expect(() => readConfig(parts)).toThrow('CONTENT_STORES=ipfs,arweave');
    const node = { IPFS_API_URL: 'http://127.0.0.1:5001' };
    expect(() => readConfig({ ...parts, ...node, CONTENT_STORES: 'arweave' })).toThrow('IPFS_API_URL');
  });

  it('may name proxies by address or range, and nothing else', () => {
    expect(readConfig({}).trustedProxies).toEqual([]);
    const config = readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1,192.0.2.1' });
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1', '192.0.2.1']);
    expect(() => readConfig({ TRUSTED_PROXIES: 'true' })).toThrow(/TRUSTED_PROXIES/);
  });

  it('may allow exact origins on this machine, and only beside no production part [REG-60]', () => {
    expect(readConfig({}).allowedLoopback).toEqual(['http://127.0.0.1:8788', 'http://127.0.0.1:8789']);
    expect(readConfig({ ALLOW_LOOPBACK: ',' }).allowedLoopback).toEqual([]);
    const allowed = readConfig({ ALLOW_LOOPBACK: 'http://127.0.0.1:9000/run, http://[::1]:80,' });
    expect(allowed.allowedLoopback).toEqual(['http://127.0.0.1:9000', 'http://[::1]']);
    for (const wrong of [
      'http://10.0.0.1:9000',
      'https://agent.example.com',
      '127.0.0.1:9000',
      'ftp://127.0.0.1',
    ]) {
      expect(() => readConfig({ ALLOW_LOOPBACK: wrong })).toThrow(/ALLOW_LOOPBACK/);
    }
    for (const parts of [PRODUCTION, { REDIS_URL: 'redis://cache.example.com' }]) {
      expect(readConfig(parts).allowedLoopback).toBeUndefined();
      const both = { ...parts, ALLOW_LOOPBACK: 'http://127.0.0.1:9000' };
      expect(() => readConfig(both)).toThrow(/ALLOW_LOOPBACK is for the embedded default/);
    }
  });

  it('of production on a local network may allow both, when it is told to [REG-60] [OPS-7]', () => {
    const local = { ...PRODUCTION, SOLANA_NETWORK: 'localnet' };
    expect(readConfig(local)).toMatchObject({
      allowedLoopback: undefined,
      sandbox: { minIsolation: 'kernel' },
    });
    const told = { ALLOW_LOOPBACK: 'http://127.0.0.1:9000', SANDBOX_MIN_ISOLATION: 'runtime' };
    expect(readConfig({ ...local, ...told })).toMatchObject({
      allowedLoopback: ['http://127.0.0.1:9000'],
      sandbox: { minIsolation: 'runtime', leastIsolation: 'runtime' },
    });
    for (const network of ['devnet', 'mainnet'])
      for (const [name, value] of Object.entries(told))
        expect(() => readConfig({ ...local, SOLANA_NETWORK: network, [name]: value })).toThrow(name);
  });

  it('of production asks for more: stronger isolation, an operator, no examples', () => {
    const config = readConfig(PRODUCTION);
    expect(config.trialHoldSeconds).toBe(3_600);
    expect(readConfig({ ...PRODUCTION, TRIAL_HOLD_MINUTES: '5' }).trialHoldSeconds).toBe(300);
    expect(config).toMatchObject({
      production: true,
      network: 'devnet',
      review: 'operator',
      examples: false,
      sandbox: { minIsolation: 'kernel' },
      solanaRpcUrls: ['https://rpc-1.example.com', 'https://rpc-2.example.com'],
    });
    expect(config.masterKey).toHaveLength(32);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('asks for isolation by the kernel beside production parts, whatever the environment is called [OPS-7]', () => {
    const { NODE_ENV: _, ...parts } = PRODUCTION;
    expect(readConfig(parts).sandbox).toMatchObject({ minIsolation: 'kernel', leastIsolation: 'kernel' });
    const redis = { REDIS_URL: 'redis://cache.example.com' };
    expect(readConfig(redis).sandbox).toMatchObject({ minIsolation: 'kernel', leastIsolation: 'kernel' });
    for (const one of [PRODUCTION, parts, redis]) {
      const lowered = (): unknown => readConfig({ ...one, SANDBOX_MIN_ISOLATION: 'runtime' });
      expect(lowered).toThrow(/SANDBOX_MIN_ISOLATION=runtime is for the embedded default.*bubblewrap/);
    }
    const embedded = { NODE_ENV: 'production', SANDBOX_MIN_ISOLATION: 'runtime' };
    expect(readConfig(embedded).sandbox).toMatchObject({
      minIsolation: 'runtime',
      leastIsolation: 'runtime',
    });
    expect(readConfig({ ...parts, SANDBOX_MIN_ISOLATION: 'microvm' }).sandbox.minIsolation).toBe('microvm');
  });

  it('runs agents on E2B beside production parts where there is a key, elsewhere only when told to', () => {
    const key = { E2B_API_KEY: 'e2b_key' };
    const e2b = { apiKey: 'e2b_key', maxSandboxes: 20, createsPerSecond: 1 };
    expect(readConfig({ ...PRODUCTION, ...key }).sandbox.e2b).toMatchObject(e2b);
    expect(readConfig(PRODUCTION).sandbox.e2b).toBeUndefined();
    expect(readConfig({ ...PRODUCTION, ...key, SANDBOX_DRIVER: 'deno' }).sandbox.e2b).toBeUndefined();
    expect(readConfig(key).sandbox.e2b).toBeUndefined();
    expect(readConfig({ ...key, SANDBOX_DRIVER: 'e2b' }).sandbox.e2b).toMatchObject(e2b);
    expect(() => readConfig({ SANDBOX_DRIVER: 'e2b' })).toThrow('E2B_API_KEY');
  });

  it.each([
    ['SANDBOX_DRIVER', 'docker'],
    ['E2B_MAX_SANDBOXES', '1'],
    ['E2B_CREATES_PER_SECOND', '0'],
    ['PORT', 'eighty'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['LOCAL_CHAIN_PORT', '1.5'],
    ['DATABASE_URL', 'mysql://db.example.com/market'],
    ['SOLANA_RPC_URLS', 'not a url'],
    ['SOLANA_RPC_URLS', ' , '],
    ['SOLANA_NETWORK', 'testnet'],
    ['MASTER_KEY', Buffer.alloc(31).toString('base64')],
    ['MASTER_KEY', 'not base64!'],
    ['UNFINALIZED_CAP_LAMPORTS', '-1'],
    ['USDC_RATE', '0'],
    ['USDC_RATE', '1e3'],
    ['USDC_RATE_URL', 'http://prices.example'],
    ['USDC_RATE_PATH', 'data..amount'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['EXECUTIONS_PER_MINUTE', 'many'],
    ['QUEUE_MAX_LENGTH', '-1'],
    ['QUEUE_MAX_WAIT_SECONDS', '0'],
    ['RECONNECT_GRACE_SECONDS', '-1'],
    ['SANDBOX_POOL_SIZE', '201'],
    ['SANDBOX_MAX_ACTIVE', '0'],
    ['SANDBOX_DRIVER', 'docker'],
    ['SANDBOX_MIN_ISOLATION', 'none'],
    ['REVIEW', 'never'],
    ['EXAMPLES', 'false'],
    ['LOG_LEVEL', 'loud'],
    ['NODE_ENV', 'staging'],
    ['MODEL_BASE_URL', 'localhost'],
  ])('with a wrong %s (%s) is refused by name, without the value', (name, value) => {
    const attempt = () => readConfig({ ...PRODUCTION, [name]: value });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(name);
  });

  it('with several mistakes names them all', () => {
    const attempt = () => readConfig({ PORT: 'x', REVIEW: 'y', LOG_LEVEL: 'z' });
    expect(attempt).toThrow(/PORT.*REVIEW|REVIEW.*PORT/);
    expect(attempt).toThrow('LOG_LEVEL');
  });

  it.each(['DATABASE_URL', 'SOLANA_RPC_URLS', 'AUTHORITY_KEYPAIR', 'MASTER_KEY'])(
    'that goes beyond the embedded default without %s is refused, naming it',
    (name) => {
      const { [name]: _, ...rest } = { ...PRODUCTION } as Record<string, string>;
      expect(() => readConfig(rest)).toThrow(new RegExp(`needs ${name}\\b`));
    },
  );

  it('may name an external signer in place of a keypair, with all that it needs', () => {
    const { AUTHORITY_KEYPAIR: _, ...rest } = PRODUCTION;
    const signer = {
      AUTHORITY_SIGNER_URL: 'https://kms.example.com/sign',
      AUTHORITY_PUBLIC_KEY: '1'.repeat(32),
      AUTHORITY_SIGNER_TOKEN: 'token',
    };
    expect(readConfig({ ...rest, ...signer }).authoritySigner).toEqual({
      url: 'https://kms.example.com/sign',
      publicKey: '1'.repeat(32),
      nextPublicKey: undefined,
      token: { value: 'token' },
    });
    const changed = (changes: Record<string, string>) => () => readConfig({ ...rest, ...signer, ...changes });
    expect(changed({ AUTHORITY_SIGNER_URL: 'http://127.0.0.1:9000/' })).not.toThrow();
    expect(changed({ AUTHORITY_SIGNER_URL: 'http://kms.example.com/' })).toThrow(/must be https/);
    expect(changed({ AUTHORITY_PUBLIC_KEY: '' })).toThrow(/AUTHORITY_PUBLIC_KEY/);
    expect(changed({ AUTHORITY_SIGNER_TOKEN: '' })).toThrow(/AUTHORITY_SIGNER_TOKEN_FILE/);
    expect(changed({ AUTHORITY_SIGNER_TOKEN_FILE: '/run/token' })).toThrow(/one of/);
    expect(changed({ AUTHORITY_KEYPAIR: 'key.json' })).toThrow(/unset one/);
    expect(changed({ AUTHORITY_SIGNER_URL: '', AUTHORITY_KEYPAIR: 'key.json' })).toThrow(
      /AUTHORITY_SIGNER_URL/,
    );
  });

  it('takes USDC at one price, which a feed tells within bounds', () => {
    expect(readConfig({}).usdc?.rate).toEqual({ fixed: '150' });
    expect(readConfig(PRODUCTION).usdc).toBe(undefined);
    expect(readConfig({ ...PRODUCTION, USDC_RATE: '142.5' }).usdc).toEqual({
      rate: { fixed: '142.5' },
      floatLamports: 10_000_000_000n,
    });
    const bounds = { USDC_RATE_LEAST: '50', USDC_RATE_MOST: '500' };
    const feed = { ...PRODUCTION, USDC_RATE_URL: 'https://prices.example/sol' };
    expect(readConfig({ ...feed, ...bounds }).usdc?.rate).toEqual({
      url: 'https://prices.example/sol',
      path: ['data', 'amount'],
      least: '50',
      most: '500',
      maximalAgeMs: 300_000,
    });
    expect(() => readConfig(feed)).toThrow('USDC_RATE_LEAST');
    expect(() => readConfig({ ...feed, ...bounds, USDC_RATE_MOST: '49' })).toThrow('higher USDC_RATE_MOST');
    expect(() => readConfig({ ...feed, ...bounds, USDC_RATE: '150' })).toThrow('not both');
  });

  it('names each RPC endpoint once', () => {
    const twice = 'https://rpc.example.com/, https://rpc.example.com/';
    expect(() => readConfig({ ...PRODUCTION, SOLANA_RPC_URLS: twice })).toThrow(/each endpoint once/);
  });

  it('never has its secrets in a message', () => {
    const attempt = () => readConfig({ ...PRODUCTION, MASTER_KEY: 'c2VjcmV0LXZhbHVl', PORT: 'x' });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).not.toThrow('c2VjcmV0LXZhbHVl');
  });

  it('counts an empty variable as one that is not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toEqual(readConfig({}));
  });

  it('names the variables that have no effect on the embedded default', () => {
    const { unused } = readConfig({ E2B_API_KEY: 'key', MASTER_KEY: Buffer.alloc(32).toString('base64') });
    expect(unused.map((sentence) => sentence.split(' ')[0])).toEqual(['E2B_API_KEY', 'MASTER_KEY']);
    expect(readConfig(PRODUCTION).unused).toEqual([]);
    expect(readConfig({ E2B_API_KEY: 'key', SANDBOX_DRIVER: 'e2b' }).unused).toEqual([]);
  });

  it('hands model settings to the examples, and nothing else', () => {
    expect(readConfig({ MODEL_NAME: 'm', PATH: '/bin' }).exampleModel).toEqual({ MODEL_NAME: 'm' });
  });
});
