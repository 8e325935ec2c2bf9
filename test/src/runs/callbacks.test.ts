import { createHmac } from 'node:crypto';
import {
  readBody,
  startHttpStandIn,
  type HttpStandIn,
  type StandInListener,
} from '@agent-rental/server/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, errorOf } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newRenter, rentOverHttp, type Renter } from '../support/renter.js';

let receiver: HttpStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let renter: Renter;
const received: { path: string; id: string; event: Record<string, unknown>; isSigned: boolean }[] = [];
const secrets: string[] = [];
let answer: StandInListener = (_request, response) => void response.writeHead(204).end();

/** Whether one of the secrets signed it, by the algorithm of Standard Webhooks. */
function isSigned(body: string, headers: NodeJS.Dict<string | string[]>): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  return secrets.some((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
}

const start = () => startMarketplace(stateDir, { ALLOW_LOOPBACK: receiver.origin });
async function createWebhook(body: object): Promise<void> {
  const created = await call(marketplace, 'POST', '/v1/webhooks', { token: renter.token, body });
  expect(created.status).toBe(201);
  secrets.push(String(created.body['secret']));
}
const execute = async (fields: object, path = '/v1/execute') => {
  const response = await fetch(marketplace.dev.base_url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${renter.token}` },
    body: JSON.stringify({ ...(await marketplace.request('one_time')), ...fields }),
  });
  return { status: response.status, text: await response.text() };
};

beforeAll(async () => {
  receiver = await startHttpStandIn(async (request, response) => {
    const body = await readBody(request);
    received.push({
      path: request.url ?? '',
      id: String(request.headers['webhook-id']),
      event: JSON.parse(body) as Record<string, unknown>,
      isSigned: isSigned(body, request.headers),
    });
    await answer(request, response);
  });
  stateDir = await newStateDir();
  marketplace = await start();
  renter = await newRenter(marketplace);
  await rentOverHttp(marketplace, renter, 'one_time');
});
afterAll(async () => {
  await marketplace.stop();
  await receiver.close();
  await removeStateDir(stateDir);
});

test('a run tells its callback of its end once, signed, by both ways of running', async () => {
  const callback = { callback_url: `${receiver.origin}/of-run`, callback_events: ['run.completed'] };
  const refused = await execute(callback);
  expect(refused.status).toBe(400);
  expect(errorOf(JSON.parse(refused.text) as never)).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('POST /v1/webhooks') as string,
  });
  await createWebhook({});
  for (const path of ['/v1/execute', '/v1/execute/stream']) {
    const { status, text } = await execute(callback, path);
    expect(status).toBe(200);
    const [, runId] = /"run_id":\s*"([\w-]+)"/.exec(text) ?? [];
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(1);
    expect(received.shift()).toMatchObject({
      path: '/of-run',
      isSigned: true,
      event: { name: 'run.completed', subject: `run:${runId}`, data: { run_id: runId, status: 'completed' } },
    });
  }
});

test(
  'an event that a killed server did not deliver arrives from the next one, with the same id',
  { timeout: 240_000 },
  async () => {
    await createWebhook({ url: `${receiver.origin}/hook`, events: ['run.completed'] });
    // The server waits for the answer when it is killed.
    answer = () => undefined;
    expect((await execute({})).status).toBe(200);
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(1);
    await marketplace.kill();
    answer = (_request, response) => void response.writeHead(204).end();
    marketplace = await start();
    await expect.poll(() => received.length, { timeout: 120_000 }).toBe(2);
    const [first, second] = received.splice(0);
    expect(second).toMatchObject({ path: '/hook', isSigned: true });
    expect(second).toEqual(first);
  },
);
