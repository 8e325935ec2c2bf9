import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ConfigError, readConfig } from '@agent-rental/server/config';
import { createLogger, startProduction } from '@agent-rental/server/production';
import { openEmptyDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { StartError } from '../../../server/dist/platform/start-error.js';
import { attach, newStateDir, removeStateDir, startServer } from '../support/marketplace.js';
import { runToEnd } from '../support/processes/run-to-end.js';

/** A port that nothing listens on. */
const CLOSED = '127.0.0.1:1';

let folder: string;
let database: TemporaryDatabase;
/** Production parts that work. */
let parts: Record<string, string>;
let webServer: string;
let closeWebServer: () => void;

beforeAll(async () => {
  folder = await newStateDir();
  await mkdir(folder, { recursive: true });
  database = await openEmptyDatabase();
  const chain = await attach(inject('stateDir'));
  const keys = join(chain.stateDir, 'keys');
  parts = {
    DATABASE_URL: database.url,
    SOLANA_RPC_URLS: chain.dev.rpc_url,
    SOLANA_NETWORK: 'localnet',
    AUTHORITY_KEYPAIR: join(keys, 'authority.json'),
    MASTER_KEY: (await readFile(join(keys, 'master-key'), 'utf8')).trim(),
  };
  const listening = createServer((_, response) => response.end('<html>A web page</html>'));
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  webServer = `127.0.0.1:${(listening.address() as AddressInfo).port}`;
  closeWebServer = () => listening.close();
  const other = Keypair.generate().secretKey;
  await writeFile(join(folder, 'other.json'), JSON.stringify([...other]));
  await writeFile(
    join(folder, 'halves.json'),
    JSON.stringify([...other.subarray(0, 32), ...randomBytes(32)]),
  );
  await writeFile(join(folder, 'base58.json'), '"4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"');
}, 120_000);
afterAll(async () => {
  closeWebServer?.();
  await database?.close();
  await removeStateDir(folder);
});

/** Starts a server in another process, which a mistake ends. */
async function expectEnd(env: Record<string, string>, message: RegExp): Promise<void> {
  const stateDir = await newStateDir();
  try {
    const { code, stderr } = await runToEnd(stateDir, env);
    expect(stderr.trim()).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  } finally {
    await removeStateDir(stateDir);
  }
}

/** Starts a server in this process. `main.js` prints the messages of these two classes, without a stack. */
async function expectOneLine(env: Record<string, string>, message: RegExp): Promise<void> {
  const starting = async () => startProduction(readConfig(env), folder, createLogger('silent'));
  const error = await starting().catch((thrown: unknown) => thrown);
  expect(error).toSatisfy((thrown) => thrown instanceof ConfigError || thrown instanceof StartError);
  expect((error as Error).message).toMatch(message);
  expect((error as Error).message.trim().split('\n')).toHaveLength(1);
}

describe('a mistake in the environment is told in one line that names the variable', () => {
  test.each<[Record<string, string>, RegExp]>([
    [{ PORT: '99999' }, /PORT/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL/],
    [{ PUBLIC_URL: 'market.example' }, /PUBLIC_URL/],
    [{ TRUSTED_PROXIES: 'proxy' }, /TRUSTED_PROXIES: must be addresses or ranges/],
    [{ PROGRAM_ID: 'my-program' }, /PROGRAM_ID: must be a public key in base58/],
    [{ MODEL_BASE_URL: 'http://127.0.0.1:9/v1' }, /MODEL_BASE_URL also needs MODEL_NAME/],
    [{ IPFS_API_TOKEN: 'token' }, /IPFS_API_TOKEN is for IPFS_API_URL/],
    [{ ALLOW_LOOPBACK: 'https://example.com' }, /ALLOW_LOOPBACK: must be origins on loopback/],
    [{ SOLANA_RPC_URLS: 'http://127.0.0.1:8899' }, /DATABASE_URL.*AUTHORITY_KEYPAIR.*MASTER_KEY/],
    [{ DATABASE_URL: 'mysql://127.0.0.1/x' }, /DATABASE_URL/],
    [{ REDIS_URL: 'http://127.0.0.1' }, /REDIS_URL/],
    [{ SANDBOX_DRIVER: 'docker' }, /SANDBOX_DRIVER/],
  ])('%j [OPS-7]', expectOneLine);

  test.each<[Record<string, string>, RegExp]>([
    [{ METRICS_TOKEN: 'short' }, /METRICS_TOKEN: must be 16 or more/],
    [{ HOST: '203.0.113.1' }, /HOST: 203\.0\.113\.1 is not an address of this machine/],
    [{ STATE_DIR: '/proc/nothing' }, /STATE_DIR|\/proc\/nothing/],
  ])('%j ends the process [OPS-7]', expectEnd, 30_000);

  test.each<[string, () => Record<string, string>, RegExp]>([
    [
      'a master key of 31 bytes',
      () => ({ MASTER_KEY: randomBytes(31).toString('base64') }),
      /MASTER_KEY: must be 32 bytes/,
    ],
    ['no master key', () => ({ MASTER_KEY: '' }), /MASTER_KEY/],
    ['no keypair', () => ({ AUTHORITY_KEYPAIR: '' }), /AUTHORITY_KEYPAIR/],
    [
      'a keypair file that is not there',
      () => ({ AUTHORITY_KEYPAIR: join(folder, 'none.json') }),
      /AUTHORITY_KEYPAIR: .*none\.json.*ENOENT.*solana-keygen/,
    ],
    [
      'a key in base58',
      () => ({ AUTHORITY_KEYPAIR: join(folder, 'base58.json') }),
      /AUTHORITY_KEYPAIR: .*not a JSON array of 64/,
    ],
    [
      'a file of two keys',
      () => ({ AUTHORITY_KEYPAIR: join(folder, 'halves.json') }),
      /AUTHORITY_KEYPAIR: .*not of one key/,
    ],
    [
      'an RPC where nothing listens',
      () => ({ SOLANA_RPC_URLS: `http://${CLOSED}` }),
      /No endpoint in SOLANA_RPC_URLS answers .*127\.0\.0\.1:1/,
    ],
    [
      'an RPC that is a web page',
      () => ({ SOLANA_RPC_URLS: `http://${webServer}/key-in-path` }),
      /No endpoint in SOLANA_RPC_URLS answers as a Solana RPC does/,
    ],
    [
      'an RPC named twice',
      () => ({ SOLANA_RPC_URLS: `${parts['SOLANA_RPC_URLS']},${parts['SOLANA_RPC_URLS']}` }),
      /SOLANA_RPC_URLS: must name each endpoint once/,
    ],
    [
      'a database where nothing listens',
      () => ({ DATABASE_URL: `postgres://someone:secret@${CLOSED}/market` }),
      /The database at 127\.0\.0\.1:1\/market cannot be used: nothing answers/,
    ],
    [
      'a database that is not there',
      () => ({ DATABASE_URL: database.url.replace(/\/[^/]*$/, '/no_such_database') }),
      /no_such_database cannot be used: the database does not exist/,
    ],
    [
      'a host that is not there',
      () => ({ DATABASE_URL: 'postgres://nowhere.invalid/market' }),
      /nowhere\.invalid\/market cannot be used: (there is no such host|the name of the host)/,
    ],
    [
      'a web server as the database',
      () => ({ DATABASE_URL: `postgres://${webServer}/market` }),
      /The database at .*\/market cannot be used/,
    ],
    [
      'a level that is not enough',
      () => ({ SOLANA_NETWORK: 'devnet', SANDBOX_MIN_ISOLATION: 'runtime' }),
      /SANDBOX_MIN_ISOLATION=runtime is for the embedded default/,
    ],
    [
      'loopback agents',
      () => ({ SOLANA_NETWORK: 'devnet', ALLOW_LOOPBACK: 'http://127.0.0.1:9000' }),
      /ALLOW_LOOPBACK is for the embedded default/,
    ],
  ])('with production parts: %s [OPS-7]', async (_, change, message) => {
    await expectOneLine({ ...parts, ...change() }, message);
  });

  // The server finds these after it has started sandboxes.
  test.each<[string, () => Record<string, string>, RegExp]>([
    [
      'a keypair that is not the authority',
      () => ({ AUTHORITY_KEYPAIR: join(folder, 'other.json') }),
      /is not one that the program .* accepts .*AUTHORITY_KEYPAIR/,
    ],
    [
      'a program that is not there',
      () => ({ PROGRAM_ID: Keypair.generate().publicKey.toBase58() }),
      /is not initialised on this network.*npm run operator -- initialize --admin ADDRESS --authority .*PROGRAM_ID and SOLANA_RPC_URLS/,
    ],
  ])(
    'with production parts: %s, which ends the process [OPS-7]',
    async (_, change, message) => {
      await expectEnd({ ...parts, ...change() }, message);
    },
    30_000,
  );
});

test('a database that was written with another master key is refused [OPS-5]', async () => {
  const stateDir = await newStateDir();
  const server = await startServer(stateDir, parts);
  await server.stop();
  await removeStateDir(stateDir);
  await expectEnd({ ...parts, MASTER_KEY: randomBytes(32).toString('base64') }, /^MASTER_KEY is not the key/);
}, 60_000);
