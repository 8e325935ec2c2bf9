import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.js';

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
      review: 'automatic',
      examples: true,
      sandbox: { minIsolation: 'runtime' },
    });
  });

  it('of production asks for more: stronger isolation, an operator, no examples', () => {
    const config = readConfig(PRODUCTION);
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

  it.each([
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
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['EXECUTIONS_PER_MINUTE', 'many'],
    ['SANDBOX_POOL_SIZE', '201'],
    ['SANDBOX_MAX_ACTIVE', '0'],
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

  it('never has its secrets in a message', () => {
    const attempt = () => readConfig({ ...PRODUCTION, MASTER_KEY: 'c2VjcmV0LXZhbHVl', PORT: 'x' });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).not.toThrow('c2VjcmV0LXZhbHVl');
  });

  it('counts an empty variable as one that is not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toEqual(readConfig({}));
  });

  it('hands model settings to the examples, and nothing else', () => {
    expect(readConfig({ MODEL_NAME: 'm', PATH: '/bin' }).exampleModel).toEqual({ MODEL_NAME: 'm' });
  });
});
