import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain } from '@agent-rental/local-chain';
import {
  findProtocolAddress,
  initializeProtocol,
  MARKETPLACE_PROGRAM_ID,
  updateProtocol,
} from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveKeys } from '../../platform/keys.js';
import { openTestDatabase, type TemporaryDatabase } from '../../testing/index.js';
import type { Checked } from './check.js';
import { describeFindings, examine, hasProblem } from './index.js';

const REDIS_URL = process.env['TEST_REDIS_URL'];
const programId = MARKETPLACE_PROGRAM_ID.toBase58();
const keys = {
  upgradeAuthority: Keypair.generate(),
  admin: Keypair.generate(),
  authority: Keypair.generate(),
  treasury: Keypair.generate(),
};
const masterKey = randomBytes(32);

let folder: string;
let database: TemporaryDatabase;
let connection: Connection;
/** Whatever has to be closed in the end. */
const ends: (() => Promise<unknown> | void)[] = [];
/** The environment of a server for which all is well. */
let healthy: Record<string, string>;
/** An address where nothing listens, and one that accepts connections and stays silent. */
let closedPort: number;
let silentPort: number;
let rpcOf: Record<'healthy' | 'uninitialized' | 'foreign', string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor '));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  database = await openTestDatabase();
  ends.push(() => database.close());
  await database.db
    .insertInto('key_checks')
    .values({ name: 'master', value: deriveKeys(masterKey).check })
    .execute();
  const silent = createServer(() => undefined);
  silentPort = await listen(silent);
  const closed = createServer();
  closedPort = await listen(closed);
  await close(closed);
  ends.push(() => void silent.close());

  const other = join(folder, 'other.so');
  await writeFile(other, Buffer.concat([await readFile(marketplaceSoPath()), Buffer.from('more')]));
  rpcOf = {
    healthy: await startChain('healthy', marketplaceSoPath()),
    uninitialized: await startChain('uninitialized', marketplaceSoPath()),
    foreign: await startChain('foreign', other),
  };
  connection = new Connection(rpcOf.healthy, 'confirmed');
  for (const keypair of Object.values(keys))
    await connection.requestAirdrop(keypair.publicKey, LAMPORTS_PER_SOL);
  await send(
    initializeProtocol({
      upgradeAuthority: keys.upgradeAuthority.publicKey,
      admin: keys.admin.publicKey,
      authority: keys.authority.publicKey,
      treasury: keys.treasury.publicKey,
    }),
    keys.upgradeAuthority,
  );
  healthy = {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: database.url,
    SOLANA_RPC_URLS: rpcOf.healthy,
    SOLANA_NETWORK: 'localnet',
    AUTHORITY_KEYPAIR: await keypairFile('authority', keys.authority),
    MASTER_KEY: masterKey.toString('base64'),
    STATE_DIR: folder,
    PUBLIC_URL: await serve({
      network: 'localnet',
      program_id: programId,
      genesis_hash: 'x',
      rpc_url: null,
      protocol_account: findProtocolAddress().address.toBase58(),
      payment_recipient: keys.authority.publicKey.toBase58(),
      fee_bps: 250,
      min_query_price_lamports: 200_000,
      unserved_tools: [],
    }),
    ...(REDIS_URL === undefined ? {} : { REDIS_URL }),
  };
}, 120_000);
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

async function startChain(name: string, soPath: string): Promise<string> {
  const chain = await startLocalChain({
    consensus: 'tower',
    stateDir: join(folder, name),
    rpcPort: 0,
    programs: [{ programId, soPath, upgradeAuthority: keys.upgradeAuthority.publicKey.toBase58() }],
  });
  ends.push(() => chain.close());
  return chain.rpcUrl;
}

async function keypairFile(name: string, keypair: Keypair): Promise<string> {
  const path = join(folder, `${name}.json`);
  await writeFile(path, JSON.stringify([...keypair.secretKey]), { mode: 0o600 });
  return path;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const close = (server: Server) => new Promise((resolve) => server.close(resolve));

/** A service that gives one answer to all that is asked. */
async function serve(answer: unknown, status = 200): Promise<string> {
  const server = createHttpServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  ends.push(() => void server.close());
  return `http://127.0.0.1:${await listen(server)}`;
}

async function send(instruction: TransactionInstruction, signer: Keypair): Promise<void> {
  await sendAndConfirmTransaction(connection, new Transaction().add(instruction), [signer]);
}

/** The findings with some changed variables. */
async function found(changes: Record<string, string> = {}, now?: () => number): Promise<Checked[]> {
  return examine({ ...healthy, ...changes }, now);
}

/** One line of the findings. */
async function line(
  name: string,
  changes: Record<string, string> = {},
  now?: () => number,
): Promise<Checked> {
  // Trying a sandbox out takes seconds, one that is out of reach does not.
  const fast = name === 'sandbox' ? {} : unreachableSandbox();
  const finding = (await found({ ...fast, ...changes }, now)).find((each) => each.name === name);
  if (!finding) throw new Error(`There is no line ${name}.`);
  return finding;
}

const unreachableSandbox = () => ({
  SANDBOX_DRIVER: 'e2b',
  E2B_API_KEY: 'e2b_x',
  E2B_API_URL: `http://127.0.0.1:${closedPort}`,
  E2B_SANDBOX_URL: `http://127.0.0.1:${closedPort}`,
});

const aheadBy = (seconds: number) => () => Date.now() + seconds * 1000;
const NAMES = [
  'database',
  'migrations',
  'master key',
  'clock',
  'rpc',
  'program',
  'protocol',
  'authority',
  'treasury',
  'redis',
  'sandbox',
  'storage',
  'disk',
  'public url',
];

describe('the doctor', () => {
  it('finds nothing wrong where all is well, in a line for each part [OPS-76]', async () => {
    const findings = await found();
    expect(findings.map(({ name }) => name)).toEqual(NAMES);
    expect(findings.filter(({ status }) => status === 'problem')).toEqual([]);
    expect(hasProblem(findings)).toBe(false);
    expect(describeFindings(findings).split('\n')).toHaveLength(NAMES.length + 1);
  }, 60_000);

  // Each fault is real: the part itself is away, wrong or empty.
  const url = (text: string, port: number) => text.replace(/:\d+(?=\/|$)/, `:${port}`);
  it.each([
    ['database', () => ({ DATABASE_URL: url(healthy['DATABASE_URL'] ?? '', closedPort) }), /nothing answers/],
    [
      'database',
      () => ({ DATABASE_URL: (healthy['DATABASE_URL'] ?? '').replace('/test_', '/none_') }),
      /does not exist/,
    ],
    ['database', () => ({ DATABASE_URL: `postgres://a:b@127.0.0.1:${silentPort}/c` }), /no answer|does not/],
    [
      'master key',
      () => ({ MASTER_KEY: randomBytes(32).toString('base64') }),
      /not the one that the database was written with/,
    ],
    ['rpc', () => ({ SOLANA_RPC_URLS: `http://127.0.0.1:${closedPort}` }), /no answer from 127/],
    ['rpc', () => ({ SOLANA_RPC_URLS: `http://127.0.0.1:${silentPort}` }), /no answer from 127/],
    ['rpc', () => ({ SOLANA_RPC_URLS: `${rpcOf.healthy},${rpcOf.foreign}` }), /cluster/],
    ['program', () => ({ PROGRAM_ID: Keypair.generate().publicKey.toBase58() }), /no program is deployed/],
    ['program', () => ({ SOLANA_RPC_URLS: rpcOf.foreign }), /another one than this release's/],
    ['protocol', () => ({ SOLANA_RPC_URLS: rpcOf.uninitialized }), /not initialised/],
    [
      'authority',
      () => ({ AUTHORITY_RESERVE_LAMPORTS: '2000000000' }),
      /holds 1 SOL; Per-Task runs are refused/,
    ],
    ['authority', () => ({ AUTHORITY_KEYPAIR: join(folder, 'none.json') }), /none\.json cannot be read/],
    [
      'till',
      () => ({ USDC_RATE_URL: 'https://127.0.0.1:1/', USDC_RATE_LEAST: '50', USDC_RATE_MOST: '500' }),
      /price feed gave no price/,
    ],
    ['redis', () => ({ REDIS_URL: `redis://127.0.0.1:${closedPort}` }), /does not answer/],
    ['sandbox', () => unreachableSandbox(), /E2B/],
    [
      'storage',
      () => ({ IPFS_API_URL: `http://127.0.0.1:${closedPort}` }),
      /IPFS_API_URL: 127.*does not answer/,
    ],
    ['disk', () => ({ STATE_DIR: '/proc' }), /0\.0 GiB free/],
    ['public url', () => ({ PUBLIC_URL: `http://127.0.0.1:${closedPort}` }), /does not answer/],
  ] as const)(
    'names the fault of the %s, and the remedy [OPS-76]',
    async (name, changes, said) => {
      const finding = await line(name, changes());
      expect(finding).toMatchObject({ name, status: 'problem' });
      expect(finding.detail).toMatch(said);
    },
    90_000,
  );

  it('names a wrong variable before all else [OPS-76]', async () => {
    expect(await found({ PROGRAM_ID: 'mine' })).toMatchObject([
      { name: 'configuration', status: 'problem', detail: expect.stringContaining('PROGRAM_ID') as string },
    ]);
  });

  it('warns of a clock that is off, and of one that no login survives [OPS-76]', async () => {
    expect(await line('clock', {}, aheadBy(10))).toMatchObject({ status: 'warning' });
    expect(await line('clock', {}, aheadBy(-60))).toMatchObject({ status: 'problem' });
    expect(await line('rpc', {}, aheadBy(300))).toMatchObject({ status: 'problem' });
  }, 60_000);

  it('knows an empty database, and one that lacks a migration [OPS-76]', async () => {
    await sql`update kysely_migration set name = 'other'`.execute(database.db);
    expect(await line('migrations')).toMatchObject({ status: 'problem' });
    await sql`alter table kysely_migration rename to elsewhere`.execute(database.db);
    expect(await line('migrations')).toMatchObject({ status: 'problem', detail: 'The database is empty.' });
    await sql`alter table elsewhere rename to kysely_migration`.execute(database.db);
    await sql`update kysely_migration set name = '0001-initial'`.execute(database.db);
  }, 60_000);

  it('knows another service, another program and an API without TLS at the public address [OPS-76]', async () => {
    const other = await serve({ hello: 'world' });
    expect(await line('public url', { PUBLIC_URL: other })).toMatchObject({ status: 'problem' });
    const program = Keypair.generate().publicKey.toBase58();
    expect((await line('public url', { PROGRAM_ID: program })).detail).toContain(`and not ${program}`);
  }, 60_000);

  it('warns while the program is paused, and of a wallet that runs low [OPS-76]', async () => {
    const { admin, treasury } = keys;
    await send(updateProtocol({ admin: admin.publicKey, paused: true }), admin);
    expect(await line('protocol')).toMatchObject({ status: 'warning' });
    expect(await line('authority', { AUTHORITY_RESERVE_LAMPORTS: '500000000' })).toMatchObject({
      status: 'warning',
    });
    const lamports = await connection.getBalance(treasury.publicKey);
    const transfer = { fromPubkey: treasury.publicKey, toPubkey: admin.publicKey };
    await send(SystemProgram.transfer({ ...transfer, lamports: lamports - 5_000 }), treasury);
    expect(await line('treasury')).toMatchObject({ status: 'problem' });
  }, 60_000);

  it('tells the USDC of the till, and the lamports that it may give for more [OPS-76]', async () => {
    const usdc = { USDC_RATE: '150', USDC_FLOAT_LAMPORTS: '900000000' };
    expect(await line('till', usdc)).toMatchObject({ status: 'warning' });
    const { publicKey } = keys.authority;
    const params = [publicKey.toBase58(), 12_500_000];
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'localchain_airdropUsdc', params });
    await fetch(rpcOf.healthy, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const told = /holds 12\.500000 USDC, and can give 0\.9 SOL for USDC/;
    await expect.poll(() => line('till', usdc), { timeout: 30_000 }).toMatchObject({ status: 'ok' });
    expect((await line('till', usdc)).detail).toMatch(told);
    const reserve = { ...usdc, AUTHORITY_RESERVE_LAMPORTS: '950000000' };
    expect(await line('till', reserve)).toMatchObject({ status: 'warning' });
    expect(await line('till', { ...usdc, USDC_FLOAT_LAMPORTS: '0' })).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('calls in USDC are refused') as string,
    });
  }, 60_000);

  it('knows a key that the program does not accept [OPS-76]', async () => {
    const stranger = await keypairFile('stranger', Keypair.generate());
    expect(await line('authority', { AUTHORITY_KEYPAIR: stranger })).toMatchObject({ status: 'problem' });
  }, 60_000);

  it('prints no secret, whatever answers [OPS-76]', async () => {
    const secret = `s3cret${randomBytes(8).toString('hex')}`;
    const withSecrets = async (port: number) =>
      found({
        DATABASE_URL: `postgres://user:${secret}@127.0.0.1:${port}/db`,
        SOLANA_RPC_URLS: `http://127.0.0.1:${port}/${secret}`,
        REDIS_URL: `redis://:${secret}@127.0.0.1:${port}`,
        IPFS_API_URL: `http://127.0.0.1:${port}`,
        IPFS_API_TOKEN: secret,
        METRICS_TOKEN: `${secret}${secret}`,
        E2B_API_KEY: secret,
        E2B_API_URL: `http://127.0.0.1:${port}`,
        E2B_SANDBOX_URL: `http://127.0.0.1:${port}`,
      });
    const talking = Number(new URL(await serve({ error: 'no' }, 401)).port);
    for (const port of [closedPort, talking]) {
      const findings = await withSecrets(port);
      expect(hasProblem(findings)).toBe(true);
      const printed = JSON.stringify(findings) + describeFindings(findings);
      expect(printed).not.toContain(secret);
      expect(printed).not.toContain(masterKey.toString('base64'));
    }
  }, 120_000);
});
