import { join } from 'node:path';
import { reclaim, rent, resume } from '@agent-rental/sdk/solana';
import { Connection } from '@solana/web3.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { publishIdleListing } from '../support/agents/agents.js';
import { call, errorOf } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { operate as operateOn } from '../support/operate.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { openRawMcpSession } from '../support/raw-mcp-session.js';

const PRICE = 1_000_000;
const DEPOSIT = 5_000_000;
const REASON = 'It asks for seed phrases.';
const TERMS = { rental_model: 'per_query', price_lamports: PRICE, min_deposit_lamports: PRICE } as const;

let stateDir: string;
let marketplace: OwnMarketplace;
let connection: Connection;
let creator: Participant;
let renter: Participant;
let stranger: Participant;
let id: string;
let port = '0';

/** Starts it, at the port of its first start: clients know the address. */
const start = async () => {
  marketplace = await startMarketplace(stateDir, { EXAMPLES: 'off', SANDBOX_POOL_SIZE: '1', PORT: port });
  port = new URL(marketplace.dev.base_url).port;
  connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
};
const get = (path: string, { token }: Participant = renter) => call(marketplace, 'GET', path, { token });
const post = (path: string, body: unknown, { token }: Participant = renter) =>
  call(marketplace, 'POST', path, { token, body });
const execute = () => post('/v1/execute', { agent_id: id, task: 'nothing' });
const toolName = () => id.replaceAll('-', '_');

/** The output of the operator's command. */
const operate = (...args: string[]) => operateOn(stateDir, ...args);
const signed = () => ['--keypair', join(stateDir, 'keys', 'admin.json')];

/** The index follows the chain a moment later. */
const statusBecomes = (status: string) =>
  vi.waitFor(async () => expect((await get(`/v1/listings/${id}`)).body).toMatchObject({ status }), {
    timeout: 20_000,
    interval: 200,
  });

beforeAll(async () => {
  stateDir = await newStateDir();
  await start();
  [creator, renter, stranger] = [
    await newParticipant(marketplace),
    await newParticipant(marketplace),
    await newParticipant(marketplace),
  ];
  id = await publishIdleListing(creator, connection, TERMS);
  await rent(renter.client, renter.signer, id, { deposit_lamports: DEPOSIT }, { connection });
}, 180_000);
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

test('a report reaches the operator once, and its queue is closed with a note [OPS-113]', async () => {
  const report = (reason: string, text: string, by = renter) =>
    post(`/v1/listings/${id}/reports`, { reason, text }, by);
  const first = await report('broken', 'It answers nothing.');
  expect(first).toMatchObject({ status: 200, body: { listing_id: id, reason: 'broken' } });
  const second = await report('fraud', 'It asks for \u001b[2Jmy seed phrase.');
  expect(second.body['report_id']).toBe(first.body['report_id']);
  await report('fraud', '', stranger);
  for (const [body, code] of [
    [{ reason: 'ugly' }, 'invalid_request'],
    [{ reason: 'fraud', text: 'x'.repeat(1001) }, 'invalid_request'],
  ] as const)
    expect(errorOf((await post(`/v1/listings/${id}/reports`, body)).body)).toMatchObject({ code });
  expect((await post('/v1/listings/absent-aaaaaa/reports', { reason: 'other' })).status).toBe(404);
  const queue = await operate('reports');
  expect(queue).toContain(`${id}  2 open (2 fraud), 0 closed before`);
  expect(queue).not.toContain('\u001b');
  expect(JSON.parse(await operate('reports', '--json'))).toMatchObject({ listings: [{ open: 2 }] });
  expect(await operate('resolve-reports', id, '--note', 'Taken down.')).toContain('2 reports');
  expect(await operate('reports')).toContain('No report is open.');
  expect(await operate('log')).toMatch(/resolve-reports +\S+ .*"reports":2.*reason: Taken down\./);
});

test('a take-down stops runs and sales with the reason, and renters get their balances back [OPS-114, PRG-47]', async () => {
  const mcp = await openRawMcpSession(marketplace.dev.mcp_url, renter.token);
  expect(await mcp.tools()).toContain(toolName());
  const take = ['take-down', id, '--reason', REASON];
  expect(await operate(...take, '--dry-run')).toMatch(
    /moderate_listing[^]*suspended +true[^]*Nothing was sent/,
  );
  expect(await operate('log')).not.toContain('take-down');
  expect(await operate(...take, ...signed())).toMatch(/Landed: \w+\nListingModerated/);
  await statusBecomes('suspended');

  const refused = await execute();
  expect(refused.status).toBe(403);
  expect(errorOf(refused.body)).toMatchObject({
    code: 'listing_suspended',
    message: expect.stringContaining(REASON) as string,
  });
  expect((await get('/v1/listings?limit=100')).body).toMatchObject({ listings: [] });
  expect((await get(`/v1/listings/${id}`)).body).toMatchObject({ suspension_reason: REASON });
  const page = await (await fetch(`${marketplace.dev.base_url}/dashboard/listings/${id}`)).text();
  expect(page.includes(REASON)).toBe(true);
  expect(page.includes('Rent this agent')).toBe(false);
  const rentPage = await fetch(`${marketplace.dev.base_url}/dashboard/rent/${id}`);
  expect(rentPage.status).toBe(403);

  expect(await mcp.tools()).not.toContain(toolName());
  for (const text of [
    await mcp.call(toolName(), { agent_id: id, task: 'nothing' }),
    await mcp.call('run_agent', { agent_id: id, task: 'nothing' }),
  ])
    expect(text).toContain(REASON);

  for (const [action, by] of [
    [{ action: 'rent', deposit_lamports: DEPOSIT }, stranger],
    [{ action: 'topup', amount_lamports: DEPOSIT }, renter],
    [{ action: 'resume' }, creator],
  ] as const) {
    const { status, body } = await post('/v1/transactions', { listing_id: id, ...action }, by);
    expect([status, errorOf(body)['code']]).toEqual([403, 'listing_suspended']);
  }
  const rentals = await get('/v1/credentials');
  expect(rentals.body).toMatchObject({
    credentials: [{ status: 'suspended', balance_lamports: DEPOSIT }],
  });
  const before = await connection.getBalance(renter.wallet.publicKey);
  await reclaim(renter.client, renter.signer, id, { connection });
  const fees = 20_000;
  expect(await connection.getBalance(renter.wallet.publicKey)).toBeGreaterThan(before + DEPOSIT - fees);
});

test('a ban refuses registrations and publications; ban and take-down outlive a killed server [OPS-115]', async () => {
  const wallet = creator.wallet.publicKey.toBase58();
  const banned = await operate('ban', wallet, '--reason', 'Three scams.');
  expect(banned).toContain('It has no listing on sale.');
  await marketplace.kill();
  await start();
  const { body, status } = await post('/v1/agents', { name: 'another' }, creator);
  expect([status, errorOf(body)['message']]).toEqual([400, expect.stringContaining('Three scams.')]);
  expect(errorOf((await execute()).body)).toMatchObject({
    code: 'listing_suspended',
    message: expect.stringContaining(REASON) as string,
  });
  await operate('unban', wallet, '--reason', 'A mistake.');
  expect((await post('/v1/agents', { name: 'another' }, creator)).status).toBe(202);
  expect(await operate('log')).toMatch(/unban[^]*ban[^]*take-down[^]*transaction \w+/);
});

test('a restored listing is paused, its creator resumes it, and a renter tops up again [OPS-114]', async () => {
  await operate('restore', id, '--reason', 'It was corrected.', ...signed());
  await statusBecomes('paused');
  expect(errorOf((await execute()).body)).toMatchObject({ code: 'listing_paused' });
  expect((await get(`/v1/listings/${id}`)).body).not.toHaveProperty('suspension_reason');
  await resume(creator.client, creator.signer, id, { connection });
  await statusBecomes('active');
  expect(errorOf((await execute()).body)).toMatchObject({ code: 'insufficient_balance' });
});
