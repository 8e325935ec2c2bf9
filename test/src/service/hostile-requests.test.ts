import { connect } from 'node:net';
import type { JsonObject } from '@agent-rental/contract';
import { once } from 'node:events';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login } from '../support/http.js';
import { inspect, type Inspector } from '../support/processes/inspector.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';

const MEGABYTE = 1024 * 1024;

let marketplace: OwnMarketplace;
let stateDir: string;
let inspector: Inspector;
let token: string;
beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    EXAMPLES: 'off',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
  });
  inspector = await inspect(marketplace.output, marketplace.process);
  token = await login(marketplace, Keypair.generate());
});
afterAll(async () => {
  inspector?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

const string = 'x'.repeat(1_400_000);
const nested = `{"input":${'['.repeat(600_000)}${']'.repeat(600_000)}}`;

/** Bodies that each cost something before they are refused. */
const BODIES: [what: string, path: string, body: string | Uint8Array<ArrayBuffer>][] = [
  ['a huge string', '/v1/execute', JSON.stringify({ agent_id: 'a-bbbbbb', task: string })],
  ['a huge string in the wrong place', '/v1/transactions', JSON.stringify({ action: string })],
  ['too many bytes', '/v1/execute', JSON.stringify({ task: string + string })],
  ['deep nesting', '/v1/execute', nested],
  ['deep nesting in a manifest', '/v1/agents', nested],
  [
    'a hundred thousand keys',
    '/v1/execute',
    `{${Array.from({ length: 100_000 }, (_, at) => `"k${at}":1`).join()}}`,
  ],
  [
    'a hundred thousand numbers',
    '/v1/api-keys',
    JSON.stringify({ policy: Array.from({ length: 100_000 }, (_, at) => at) }),
  ],
  ['invalid UTF-8', '/v1/execute', new Uint8Array(1_400_000).fill(0xff)],
  ['a prototype', '/v1/execute', `{"__proto__":{"x":"${string}"}}`],
  ['no JSON', '/v1/auth/token', string],
];

async function sendAll(): Promise<void> {
  for (const [what, path, body] of BODIES) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(marketplace.dev.base_url + path, { method: 'POST', headers, body });
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    // 413 beyond the bytes of its operation.
    expect([400, 413], what).toContain(response.status);
    expect(error).toMatchObject({
      code: 'invalid_request',
      request_id: response.headers.get('x-request-id'),
    });
    // An error does not throw the body back.
    expect(JSON.stringify(error).length, what).toBeLessThan(2000);
  }
}

/** Opens connections that send the beginning of a body and then nothing. */
async function stall(connections: number): Promise<() => void> {
  const { port } = new URL(marketplace.dev.base_url);
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(
        `POST /v1/execute HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n` +
          'content-type: application/json\r\ncontent-length: 1000000\r\n\r\n{"task":"',
      );
      return socket;
    }),
  );
  return () => sockets.forEach((socket) => socket.destroy());
}

interface Described {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { example?: JsonObject; schema?: { properties?: JsonObject } }> };
}
type Paths = Record<string, Record<string, Described>>;

/** In addresses and forms: a null character, halves of a surrogate pair and of an escape, a byte that begins nothing, and too much. */
const UGLY_PARTS = ['a%00b', '%ED%A0%80', '%FF', '%', 'x'.repeat(4_000)];
const UGLY_TEXTS = ['a\0b', 'a\ud800b', 'x'.repeat(9_000)];
const FORM = 'application/x-www-form-urlencoded';

/** Every operation, page and form of the document with ugly text in one place at a time. */
function uglyRequests(paths: Paths): { what: string; path: string; init: RequestInit }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, { parameters = [], requestBody }]) => {
      const method = name.toUpperCase();
      const what = `${method} ${path}`;
      const plain = path.replaceAll(/\{\w+\}/g, 'x');
      const { example } = requestBody?.content['application/json'] ?? {};
      const body = example === undefined ? {} : { body: JSON.stringify(example) };
      const inAddress = UGLY_PARTS.flatMap((ugly) => [
        ...(path === plain ? [] : [path.replaceAll(/\{\w+\}/g, ugly)]),
        ...[...parameters.filter((one) => one.in === 'query').map((one) => one.name), ugly].map(
          (parameter) => `${plain}?${parameter}=${ugly}`,
        ),
      ]).map((address) => ({
        what: `${what} at ${address.slice(0, 80)}`,
        path: address,
        init: { method, ...body },
      }));
      const inBody = Object.keys(example ?? {}).flatMap((field) =>
        UGLY_TEXTS.flatMap((ugly) => [ugly, { [ugly]: [ugly] }]).map((ugly) => ({
          what: `${what} with ${field}: ${JSON.stringify(ugly).slice(0, 40)}`,
          path: plain,
          init: { method, body: JSON.stringify({ ...example, [field]: ugly }) },
        })),
      );
      const fields = Object.keys(requestBody?.content[FORM]?.schema?.properties ?? {});
      const inForm = fields.flatMap((field) =>
        UGLY_PARTS.map((ugly) => ({
          what: `${what} with ${field}: ${ugly.slice(0, 40)}`,
          path: plain,
          init: {
            method,
            headers: { 'content-type': FORM },
            body: [
              `${field}=${ugly}`,
              ...fields
                .filter((one) => one !== field)
                .map((one) => `${one}=${one === 'grant_type' ? 'refresh_token' : 'x'}`),
            ].join('&'),
          },
        })),
      );
      return [...inAddress, ...inBody, ...inForm];
    }),
  );
}

describe('hostile requests', () => {
  test('leave memory as it was [ERR-33]', { timeout: 240_000 }, async () => {
    // Code that is loaded and compiled once is loaded first.
    for (let round = 0; round < 4; round += 1) await sendAll();
    const before = await inspector.heapAfterCollection();
    const release = await stall(200);
    for (let round = 0; round < 20; round += 1) await sendAll();
    release();
    await expect
      .poll(async () => (await inspector.heapAfterCollection()).heapUsed - before.heapUsed, {
        timeout: 30_000,
      })
      .toBeLessThan(8 * MEGABYTE);
    // Some 200 MB of bodies went through.
    const after = await inspector.heapAfterCollection();
    expect(after.external - before.external).toBeLessThan(8 * MEGABYTE);
    expect(after.rss - before.rss).toBeLessThan(150 * MEGABYTE);
  });

  test('with ugly text in any path, query or field are answered, never by a 500 [ERR-21]', async () => {
    const base = marketplace.dev.base_url;
    const document = (await (await fetch(`${base}/openapi.json`)).json()) as { paths: Paths };
    const sent = uglyRequests(document.paths).map(async ({ what, path, init }) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const { status, body } = await fetch(base + path, { headers, redirect: 'manual', ...init });
      await body?.cancel();
      return { what, status };
    });
    const answers = await Promise.all(sent);
    expect(answers.length).toBeGreaterThan(500);
    expect(answers.filter(({ status }) => status === 500)).toEqual([]);
  });

  test('keep no other client from being served', async () => {
    const release = await stall(200);
    const response = await fetch(`${marketplace.dev.base_url}/v1/credentials`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    release();
  });
});
