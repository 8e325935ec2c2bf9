import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, rent } from '@agent-rental/sdk/solana';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishAgent, textAgent } from '../support/agents/agents.js';
import { call, login } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { descendants, stillRunning } from '../support/processes/processes.js';

const PROMPT = 'prompt-that-stays-secret-4711';
const MODEL_KEY = 'sk-model-key-that-stays-secret-4712';
const TASK = 'task-that-is-the-renters-own-4713';
const OUTPUT = 'output-that-is-the-renters-own-4714';

let model: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let renter: Participant;
let agentId: string;
let apiKey: string;

const clientOf = (signer: Participant['signer']) =>
  createClient({ baseUrl: marketplace.dev.base_url, signer, retries: 0 });
const start = async (env: Record<string, string> = {}) => {
  marketplace = await startMarketplace(stateDir, {
    MODEL_BASE_URL: model.baseUrl,
    MODEL_NAME: 'stand-in',
    LOG_LEVEL: 'trace',
    ...env,
  });
  if (renter) renter = { ...renter, client: clientOf(renter.signer) };
};
const execute = (key?: string) =>
  call(marketplace, 'POST', '/v1/execute', {
    token: apiKey,
    body: { agent_id: agentId, task: TASK },
    ...(key ? { headers: { 'idempotency-key': key } } : {}),
  });
const ready = () => call(marketplace, 'GET', '/ready');
const exited = () => new Promise<number | null>((resolve) => marketplace.process.once('exit', resolve));

beforeAll(async () => {
  model = await startModelStandIn();
  stateDir = await newStateDir();
  await start();
  const creator = await newParticipant(marketplace);
  const manifest = textAgent(model.baseUrl, { system_prompt: PROMPT });
  agentId = await publishAgent(creator, { ...manifest, model_key: MODEL_KEY });
  renter = await newParticipant(marketplace);
  await rent(renter.client, renter.signer, agentId, { deposit_lamports: 10_000_000 });
  apiKey = (await createApiKey(renter.client, renter.signer, 'operations')).key;
}, 120_000);

afterAll(async () => {
  await model?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

describe('a server that is up', () => {
  test('is ready, with no reason against it [OPS-1]', async () => {
    const answer = await ready();
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'ready',
      reasons: [],
      funds: { per_task_runs: 'accepted' },
    });
  });

  test('counts its work, and names no user [OPS-1]', async () => {
    model.always(OUTPUT);
    expect((await execute()).body).toMatchObject({ status: 'completed', output: OUTPUT });
    model.always(undefined);
    const response = await fetch(`${marketplace.dev.base_url}/metrics`);
    expect(response.status).toBe(200);
    const text = await response.text();
    for (const line of [
      /^agent_rental_http_request_duration_seconds_count\{method="POST",route="\/v1\/execute",status="200"\} 1$/m,
      /^agent_rental_runs_total\{state="completed"\} 1$/m,
      /^agent_rental_runs_running 0$/m,
      /^agent_rental_charges_total\{state="confirmed"\} 1$/m,
      /^agent_rental_charges_open\{state="signed"\} 0$/m,
      /^agent_rental_seats_taken 0$/m,
      /^agent_rental_runs_waiting 0$/m,
      /^agent_rental_deliveries_pending 0$/m,
      /^agent_rental_sandboxes\{pool="runner",state="idle"\} \d+$/m,
      /^agent_rental_sandbox_starts\{pool="runner"\} [1-9]\d*$/m,
      /^agent_rental_sandbox_failures\{pool="runner",kind="died"\} 0$/m,
      /^agent_rental_sandbox_refill_seconds\{pool="runner"\} 0\.\d+$/m,
      /^agent_rental_database_connections\{state="total"\} [1-9]/m,
      /^agent_rental_index_age_seconds [\d.]+/m,
      /^agent_rental_rate_limit_fallbacks_total 0$/m,
      /^nodejs_eventloop_lag_seconds /m,
    ]) {
      expect(text).toMatch(line);
    }
    expect(text).not.toContain(agentId);
    expect(text).not.toContain(renter.wallet.publicKey.toBase58());
  });

  test('logs a request under its id in every line, and no secret in any line [ERR-3, OPS-9, REG-16]', async () => {
    const token = await login(marketplace, renter.wallet);
    expect((await call(marketplace, 'GET', '/v1/credentials', { token })).status).toBe(200);
    const running = execute();
    const modelCall = await model.nextCall();
    // The agent's model got all of it.
    expect(modelCall.key).toBe(MODEL_KEY);
    expect(modelCall.body).toContain(PROMPT);
    expect(modelCall.body).toContain(TASK);
    // A vendor that repeats the request in its error.
    modelCall.refuse(401, `Incorrect key ${modelCall.key} for ${modelCall.body}`);
    const answer = await running;
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.body)).not.toContain(MODEL_KEY);
    const id = String(answer.headers.get('x-request-id'));
    const readLog = async () =>
      (await readFile(join(stateDir, 'server.log'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    // The last line comes after the answer.
    await expect
      .poll(async () => (await readLog()).filter((line) => line['reqId'] === id).map((line) => line['msg']))
      .toEqual(['an agent could not be reached', expect.any(String), 'request']);
    const lines = await readLog();
    // Each line about one run, except for lines of background work, names its request.
    for (const line of lines.filter((entry) => entry['msg'] === 'an agent could not be reached')) {
      expect(line).toHaveProperty('reqId');
    }
    const log = JSON.stringify(lines);
    for (const secret of [PROMPT, MODEL_KEY, TASK, OUTPUT, apiKey, token]) expect(log).not.toContain(secret);
  });
});

describe('a server that is told to stop', () => {
  test('takes no new run, finishes the one that runs, and ends with 0 [OPS-1, OPS-4]', async () => {
    const running = execute();
    const modelCall = await model.nextCall();
    const end = exited();
    marketplace.process.kill('SIGTERM');
    await expect.poll(async () => (await ready()).body).toMatchObject({ reasons: ['draining'] });
    const notReady = await ready();
    expect(notReady.status).toBe(503);
    expect(Number(notReady.headers.get('retry-after'))).toBeGreaterThan(0);
    const refused = await execute();
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Reading goes on meanwhile.
    expect((await call(marketplace, 'GET', '/v1/credentials', { token: apiKey })).status).toBe(200);
    modelCall.answer(OUTPUT);
    expect((await running).body).toMatchObject({ status: 'completed', output: OUTPUT });
    expect(await end).toBe(0);
  });

  test('credits a run that it cannot wait for: 503, and the next run is free [MON-5, OPS-4]', async () => {
    await start({ DRAIN_TIMEOUT_SECONDS: '0' });
    // An earlier run may have left a credit, which is used first.
    model.always(OUTPUT);
    await expect.poll(async () => (await execute()).body).toMatchObject({ cost_lamports: 250_000 });
    model.always(undefined);
    const balance = async () => (await renter.client.verifyCredential(agentId)).balance_lamports ?? 0;
    const before = await balance();
    const running = execute('drained');
    await model.nextCall();
    await expect.poll(balance).toBe(before - 250_000);
    const end = exited();
    marketplace.process.kill('SIGTERM');
    const answer = await running;
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await end).toBe(0);

    await start();
    // Charged once, and made good once: the same key starts over, for nothing.
    await expect.poll(balance).toBe(before - 250_000);
    model.always(OUTPUT);
    const again = await execute('drained');
    expect(again.body).toMatchObject({ status: 'completed', cost_lamports: 0 });
    model.always(undefined);
  }, 90_000);

  test('ends at once on the second signal, with its whole log on disk [OPS-4]', async () => {
    const running = execute().catch((error: unknown) => error);
    await model.nextCall();
    const end = exited();
    marketplace.process.kill('SIGTERM');
    await expect.poll(async () => (await ready()).status).toBe(503);
    const last = await ready();
    marketplace.process.kill('SIGTERM');
    // The model never answers: nothing that the server waits for can have ended.
    expect(await end).toBe(130);
    // Lines are collected for a while before they are written.
    const log = await readFile(join(stateDir, 'server.log'), 'utf8');
    expect(log).toContain(String(last.headers.get('x-request-id')));
    expect(await running).toBeInstanceOf(TypeError);
    // The next start clears the leftovers of this stop.
    await start();
  }, 60_000);
});

test('a stopped server’s state folder is a backup: a server continues from a copy of it [OPS-6, OPS-79]', async () => {
  model.always(OUTPUT);
  const before = await execute('before-the-backup');
  expect(before.body).toMatchObject({ status: 'completed' });
  const balance = (await renter.client.verifyCredential(agentId)).balance_lamports;
  const { dev, apiKey: ofExamples } = marketplace;
  const children = await descendants(marketplace.process.pid ?? 0);
  expect(children.length).toBeGreaterThan(3);
  // As by Ctrl-C. It leaves no process.
  expect(await marketplace.stop()).toBe(0);
  expect(await stillRunning(children)).toEqual([]);
  const original = stateDir;
  stateDir = `${original} restored`;
  // With owners and modes: PostgreSQL refuses a data folder of another owner.
  await promisify(execFile)('cp', ['-a', original, stateDir]);
  await removeStateDir(original);
  await start();
  expect((await ready()).body).toMatchObject({ status: 'ready', reasons: [] });
  expect(marketplace.dev.listings.map(({ id }) => id)).toEqual(dev.listings.map(({ id }) => id));
  expect(marketplace.apiKey).toBe(ofExamples);
  // The run is on record, the balance is the chain's, and the sealed prompt and key still open.
  expect((await execute('before-the-backup')).body).toEqual(before.body);
  expect((await renter.client.verifyCredential(agentId)).balance_lamports).toBe(balance);
  expect((await execute('after-the-backup')).body).toMatchObject({ status: 'completed', output: OUTPUT });
}, 90_000);
