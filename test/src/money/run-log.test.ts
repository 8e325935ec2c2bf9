import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeProtocol, findProtocolAddress, findRunLogAddress } from '@agent-rental/program-client';
import { Connection, PublicKey } from '@solana/web3.js';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../docs/repository.js';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newRenter, rentOverHttp, type Renter } from '../support/renter.js';

type Fields = Record<string, unknown>;

let stateDir: string;
let marketplace: OwnMarketplace;
let renter: Renter;
/** A One-Time run whose server was killed as soon as it had answered, and a run that was charged. */
let logged: string;
let charged: string;

beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir);
  renter = await newRenter(marketplace);
  for (const model of ['one_time', 'per_query'] as const) await rentOverHttp(marketplace, renter, model);
  charged = await runOf('per_query');
  logged = await runOf('one_time');
  await marketplace.kill();
  marketplace = await startMarketplace(stateDir);
}, 120_000);
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

async function runOf(model: 'one_time' | 'per_query'): Promise<string> {
  const body = await marketplace.request(model);
  const answer = await call(marketplace, 'POST', '/v1/execute', { token: renter.token, body });
  expect(answer.body).toMatchObject({ status: 'completed' });
  return String(answer.body['run_id']);
}

const receiptOf = async (runId: string) =>
  (await call(marketplace, 'GET', `/v1/runs/${runId}/receipt`, renter)).body as {
    receipt: Fields;
    jws: string;
    log: Fields & { signature: string };
  };

/** Until the batch is final on-chain: its signature and 32 slots. */
const isLogged = () =>
  expect.poll(async () => (await receiptOf(logged)).log['status'], { timeout: 60_000 }).toBe('logged');

test('a run without a charge is logged on-chain although its server was killed, a charged one by its charge [MON-8, MON-32]', async () => {
  await isLogged();
  const { receipt, log } = await receiptOf(logged);
  const connection = new Connection(marketplace.dev.rpc_url, 'finalized');
  const program = new PublicKey(marketplace.dev.program_id);
  const listed = await connection.getSignaturesForAddress(findRunLogAddress(program).address);
  const memo = listed.find(({ signature }) => signature === log.signature)?.memo;
  expect(memo).toContain(
    `agent-rental run log v1 batch=${String(log['batch'])} count=${String(log['count'])} ` +
      `previous=${String(log['previous_root'])} root=${String(log['root'])}`,
  );
  expect(receipt).toMatchObject({ cost_lamports: 0, charge_signature: null });
  const paid = await receiptOf(charged);
  expect(paid.log).toEqual({ status: 'charged', signature: paid.receipt['charge_signature'] });
}, 90_000);

/** Runs a block of code of docs/receipts.md as a reader does. */
async function runBlock(language: 'js' | 'sh', number: number, runId: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/receipts.md'), 'utf8');
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))];
  const code = blocks[number]?.[1] ?? '';
  // Inside the repository, where the packages are found.
  const folder = await mkdtemp(join(language === 'js' ? join(ROOT, 'test/dist') : tmpdir(), 'receipts-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, `code.${language === 'js' ? 'mjs' : 'sh'}`), code);
  const program = new PublicKey(marketplace.dev.program_id);
  const account = await new Connection(marketplace.dev.rpc_url).getAccountInfo(
    findProtocolAddress(program).address,
  );
  const env = {
    PATH: process.env['PATH'],
    MARKETPLACE_URL: marketplace.dev.base_url,
    RPC_URL: marketplace.dev.rpc_url,
    API_KEY: renter.token,
    RUN_ID: runId,
    PROGRAM_ID: program.toBase58(),
    AUTHORITY: decodeProtocol(account?.data ?? new Uint8Array()).authority.toBase58(),
  };
  const command = language === 'js' ? [process.execPath, 'code.mjs'] : ['sh', '-eu', 'code.sh'];
  const { stdout } = await promisify(execFile)(command[0] ?? '', command.slice(1), { cwd: folder, env });
  return stdout;
}

test('the sdk verifies receipts as docs/receipts.md says [MON-32]', async () => {
  await isLogged();
  expect(await runBlock('js', 0, logged)).toContain(`Run ${logged} stands on-chain by its run_log.`);
  expect(await runBlock('js', 0, charged)).toContain(`Run ${charged} stands on-chain by its charge.`);
}, 90_000);

test('a foreign JOSE library, and curl with a shell, verify receipts as docs/receipts.md says [MON-32]', async () => {
  await isLogged();
  const { log } = await receiptOf(logged);
  expect(await runBlock('js', 1, logged)).toContain(
    `count=${String(log['count'])} previous=${String(log['previous_root'])} root=${String(log['root'])}`,
  );
  expect((await runBlock('sh', 0, logged)).trim()).toBe('true');
  const { receipt, jws } = await receiptOf(logged);
  const jwks = (await call(marketplace, 'GET', '/.well-known/jwks.json')).body;
  const keys = createLocalJWKSet(jwks as unknown as JSONWebKeySet);
  const { payload } = await compactVerify(jws, keys);
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual(receipt);
  const changed = Buffer.from(JSON.stringify({ ...receipt, status: 'failed' })).toString('base64url');
  await expect(compactVerify(jws.replace(/\.[^.]*\./, `.${changed}.`), keys)).rejects.toThrow();
}, 90_000);
