import { createHash, createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { Connection } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { PRICE, publishProgram, rentAgent } from '../support/agents/agents.js';
import { call, type Answer } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

/** Works as long as the input says, so that a test can act on a running run. */
const PROGRAM = `
await new Promise((resolve) => setTimeout(resolve, input?.wait_ms ?? 0));
return { task };
`;
/** Longer than any test waits. */
const ENDLESS = { wait_ms: 25_000 };

let marketplace: Marketplace;
let agentId: string;
let renter: Participant;
let keys = 0;
const newKey = () => `runs-${process.pid}-${(keys += 1)}`;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  const creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  agentId = await publishProgram(marketplace, creator, PROGRAM);
  await rentAgent(renter, agentId, 40);
});

const errorOf = (answer: Answer) => answer.body['error'] as Record<string, unknown>;
const get = (path: string, headers: Record<string, string> = {}, token = renter.token) =>
  call(marketplace, 'GET', path, { token, headers });
const execute = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
  call(marketplace, 'POST', '/v1/execute', {
    token: renter.token,
    body: { agent_id: agentId, task: 'wait', ...body },
    headers,
  });
const cancel = (runId: unknown, token = renter.token) =>
  call(marketplace, 'POST', `/v1/runs/${String(runId)}/cancel`, { token });
const balance = async () => (await renter.client.verifyCredential(agentId)).balance_lamports ?? Number.NaN;

/** Begins a run and comes back at once. */
async function begin(body: Record<string, unknown>, key = newKey()): Promise<string> {
  const answer = await execute(body, { prefer: 'respond-async', 'idempotency-key': key });
  expect(answer.status).toBe(202);
  return String(answer.body['run_id']);
}

/** Sends a request and breaks its connection once its run has started. */
async function executeAndLeave(body: Record<string, unknown>, key: string, prefer = ''): Promise<void> {
  const connection = new AbortController();
  const before = await balance();
  const request = fetch(`${marketplace.dev.base_url}/v1/execute`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${renter.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      prefer,
    },
    body: JSON.stringify({ agent_id: agentId, task: 'wait', ...body }),
    signal: connection.signal,
  });
  await vi.waitUntil(async () => (await balance()) === before - PRICE, { timeout: 20_000 });
  connection.abort();
  await expect(request).rejects.toThrow();
}

describe('a run that takes a while', () => {
  test('is answered with 202 and its place, and a long poll gives its end [RUN-9]', async () => {
    const answer = await execute({ input: { wait_ms: 1_000 } }, { prefer: 'respond-async, wait=0' });
    expect(answer.status).toBe(202);
    const runId = String(answer.body['run_id']);
    expect(answer.body).toEqual({ run_id: runId, agent_id: agentId, status: 'running' });
    expect(answer.headers.get('location')).toBe(`/v1/runs/${runId}`);
    expect(answer.headers.get('x-run-id')).toBe(runId);
    expect(answer.headers.get('preference-applied')).toBe('respond-async, wait=0');
    const now = await get(`/v1/runs/${runId}`);
    expect(now.body).toEqual({
      ...answer.body,
      started_at: expect.stringMatching(/Z$/),
      step: expect.stringMatching(/^(started|charging|charged)$/),
    });
    const ended = await get(`/v1/runs/${runId}`, { prefer: 'wait=60' });
    expect(ended.headers.get('preference-applied')).toBe('wait=60');
    expect(ended.body).toMatchObject({ run_id: runId, status: 'completed', cost_lamports: PRICE });
    expect((await get(`/v1/runs/${runId}`)).body).toEqual(ended.body);
  });

  test('is answered with its result when it ends within the preferred time', async () => {
    const answer = await execute({}, { prefer: 'respond-async, wait=600' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('preference-applied')).toBe('respond-async, wait=60');
    expect(answer.body).toMatchObject({ status: 'completed', output: { task: 'wait' } });
  });

  test('is its wallet’s alone [RUN-1]', async () => {
    const runId = await begin({ input: ENDLESS });
    const stranger = await newParticipant(marketplace);
    for (const path of [`/v1/runs/${runId}`, `/v1/runs/${runId}x`, '/v1/runs/nothing']) {
      const answer = await get(path, {}, stranger.token);
      expect(answer.status).toBe(404);
      expect(errorOf(answer)).toMatchObject({ code: 'not_found' });
    }
    expect((await cancel(runId, stranger.token)).status).toBe(404);
    expect((await get(`/v1/runs/${runId}`)).body).toMatchObject({ status: 'running' });
    await cancel(runId);
  });
});

describe('a cancel', () => {
  test('stops the run, and the request that waits for it says so; the charge is kept [RUN-11]', async () => {
    const key = newKey();
    const before = await balance();
    const waiting = execute({ input: ENDLESS }, { 'idempotency-key': key });
    await vi.waitUntil(async () => (await balance()) === before - PRICE, { timeout: 20_000 });
    const answer = await call(marketplace, 'POST', '/v1/runs/cancel', {
      token: renter.token,
      body: { idempotency_key: key },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ cancelled: true });
    const told = await waiting;
    expect(told.status).toBe(200);
    expect(told.body).toMatchObject({
      status: 'failed',
      output: 'The run was cancelled.',
      cost_lamports: PRICE,
    });
    expect(answer.body['run']).toEqual({ ...told.body, stop_reason: 'cancelled' });
    expect(await balance()).toBe(before - PRICE);
  });

  test('by key before the request refuses it, uncharged [RUN-11]', async () => {
    const key = newKey();
    const before = await balance();
    const body = { idempotency_key: key };
    const answer = await call(marketplace, 'POST', '/v1/runs/cancel', { token: renter.token, body });
    expect(answer.body).toEqual({ cancelled: true });
    const late = await execute({}, { 'idempotency-key': key });
    expect(late.status).toBe(400);
    expect(errorOf(late)['message']).toContain('Nothing was charged');
    expect(await balance()).toBe(before);
  });

  test('leaves a run that has ended as it is [RUN-11]', async () => {
    const run = await execute({});
    const answer = await cancel(run.body['run_id']);
    expect(answer.body).toEqual({ cancelled: false, run: run.body });
  });

  test.each([
    {},
    { idempotency_key: '' },
    { idempotency_key: 'two words' },
    { idempotency_key: 'k', extra: 1 },
  ])('by key with the body %j is refused', async (body) => {
    const answer = await call(marketplace, 'POST', '/v1/runs/cancel', { token: renter.token, body });
    expect(answer.status).toBe(400);
  });

  test('follows from an abort of the sdk', async () => {
    const abort = new AbortController();
    const key = newKey();
    const before = await balance();
    const body = { agent_id: agentId, task: 'wait', input: ENDLESS };
    const running = renter.client.execute(body, { idempotencyKey: key, signal: abort.signal });
    await vi.waitUntil(async () => (await balance()) === before - PRICE, { timeout: 20_000 });
    abort.abort(new Error('not wanted any more'));
    await expect(running).rejects.toThrow('not wanted any more');
    // The same request under the same key is told what became of the run.
    expect(await renter.client.execute(body, { idempotencyKey: key })).toMatchObject({
      status: 'failed',
      output: 'The run was cancelled.',
    });
  });
});

describe('a caller whose connection breaks', () => {
  test('comes back with its key and gets the run that it began, paid once [RUN-13]', async () => {
    const key = newKey();
    const before = await balance();
    await executeAndLeave({ input: { wait_ms: 2_000 } }, key);
    const answer = await execute({ input: { wait_ms: 2_000 } }, { 'idempotency-key': key });
    expect(answer.body).toMatchObject({ status: 'completed', cost_lamports: PRICE });
    expect(await balance()).toBe(before - PRICE);
  });

  test('and repeats its request under a key with a window pays once, and again after the window [RUN-24]', async () => {
    const before = await balance();
    const body = { task: `window ${newKey()}`, input: { wait_ms: 1_000 } };
    const headers = { 'idempotency-key': `${newKey()};window=0` };
    const started = await execute(body, { ...headers, prefer: 'respond-async' });
    const joined = await execute(body, headers);
    expect(joined.body).toMatchObject({ run_id: started.body['run_id'], status: 'completed' });
    expect(joined.body['joined']).toEqual({ begun_seconds_ago: expect.any(Number) });
    expect(await balance()).toBe(before - PRICE);
    const next = await execute(body, headers);
    expect(next.body['run_id']).not.toBe(started.body['run_id']);
    expect(next.body['joined']).toBeUndefined();
    expect(await balance()).toBe(before - 2 * PRICE);
  });

  test('and has no key for it any more pays for another run [RUN-3]', async () => {
    const before = await balance();
    const body = { task: `again ${newKey()}` };
    const runId = await begin(body);
    expect((await execute(body)).body['run_id']).not.toBe(runId);
    await get(`/v1/runs/${runId}`, { prefer: 'wait=60' });
    expect(await balance()).toBe(before - 2 * PRICE);
  });
});

describe('a receipt', () => {
  const digest = (salt: unknown, canonical: string) =>
    createHash('sha256')
      .update(Buffer.from(String(salt), 'hex'))
      .update(canonical)
      .digest('hex');

  test('says what happened, and can be checked with the published key and the chain alone [RUN-15]', async () => {
    const run = await execute({ input: { wait_ms: 1 } });
    const answer = await get(`/v1/runs/${String(run.body['run_id'])}/receipt`);
    expect(answer.status).toBe(200);
    const { receipt, salt, jws } = answer.body as {
      receipt: Record<string, unknown>;
      salt: string;
      jws: string;
    };
    expect(receipt).toMatchObject({
      run_id: run.body['run_id'],
      wallet: renter.wallet.publicKey.toBase58(),
      listing_id: agentId,
      status: 'completed',
      cost_lamports: PRICE,
      credited: false,
      network: 'localnet',
      program_id: marketplace.dev.program_id,
      input_digest: digest(salt, '{"input":{"wait_ms":1},"task":"wait"}'),
      output_digest: digest(salt, '{"task":"wait"}'),
    });
    const [header = '', payload = '', signature = ''] = jws.split('.');
    const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, string>;
    const { keys } = (await call(marketplace, 'GET', '/.well-known/jwks.json')).body as {
      keys: JsonWebKey[];
    };
    const key = createPublicKey({
      key: keys.find((candidate) => candidate['kid'] === kid) ?? {},
      format: 'jwk',
    });
    expect(alg).toBe('EdDSA');
    const check = (text: string) => verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
    expect(check(`${header}.${payload}`)).toBe(true);
    expect(check(`${header}.${payload}x`)).toBe(false);
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual(receipt);
    expect(jws).not.toContain(salt);
    const connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
    const charge = await connection.getSignatureStatus(String(receipt['charge_signature']));
    expect(charge.value).toMatchObject({ err: null });
    // The same run always has the same receipt.
    expect((await renter.client.getReceipt(String(run.body['run_id']))).jws).toBe(jws);
  });

  test('is its wallet’s alone, and there once the run has ended', async () => {
    const runId = await begin({ input: ENDLESS });
    expect((await get(`/v1/runs/${runId}/receipt`)).status).toBe(404);
    await cancel(runId);
    expect((await get(`/v1/runs/${runId}/receipt`)).body['receipt']).toMatchObject({ run_id: runId });
    const stranger = await newParticipant(marketplace);
    expect((await get(`/v1/runs/${runId}/receipt`, {}, stranger.token)).status).toBe(404);
  });
});

test('the runs of a wallet are listed, newest first, by pages [RUN-1]', async () => {
  const first = await execute({ task: 'older' });
  const second = await execute({ task: 'newer' });
  const page = await get(`/v1/runs?agent_id=${agentId}&limit=1`);
  expect(page.body).toMatchObject({
    runs: [{ run_id: second.body['run_id'], agent_id: agentId, status: 'completed', cost_lamports: PRICE }],
    limit: 1,
    offset: 0,
  });
  const next = await get(`/v1/runs?agent_id=${agentId}&limit=1&offset=1`);
  expect(next.body).toMatchObject({ runs: [{ run_id: first.body['run_id'] }], total: page.body['total'] });
  const cursor = String(page.body['next_cursor']);
  const rest = await get(`/v1/runs?agent_id=${agentId}&limit=1&cursor=${cursor}`);
  expect(rest.body['runs']).toEqual(next.body['runs']);
  // It belongs to the runs of that agent alone.
  expect((await get(`/v1/runs?limit=1&cursor=${cursor}`)).status).toBe(400);
  expect((await get('/v1/runs?limit=101')).status).toBe(400);
  const stranger = await newParticipant(marketplace);
  expect((await get('/v1/runs', {}, stranger.token)).body).toMatchObject({ runs: [], total: 0 });
});

test('the sdk begins a run, waits for it, and cancels one', async () => {
  const { client } = renter;
  const body = { agent_id: agentId, task: 'wait', input: { wait_ms: 500 } };
  const started = await client.executeAsync(body);
  expect(started).toMatchObject({ status: 'running' });
  expect(await client.waitForRun(started.run_id)).toMatchObject({ status: 'completed' });
  expect(await client.executeAsync(body, { waitSeconds: 60 })).toMatchObject({ status: 'completed' });
  const endless = await client.executeAsync({ ...body, input: ENDLESS });
  expect(await client.cancelRun(endless.run_id)).toMatchObject({ cancelled: true });
});
