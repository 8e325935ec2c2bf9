import { connect } from 'node:net';
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
    RATE_LIMIT_PER_MINUTE: '1000000',
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
    expect({ what, status: response.status }).toEqual({ what, status: 400 });
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

  test('keep no other client from being served', async () => {
    const release = await stall(200);
    const response = await fetch(`${marketplace.dev.base_url}/v1/credentials`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    release();
  });
});
