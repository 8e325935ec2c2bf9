import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { watchForCut } from './cut-answers.js';

let server: Server;
let client: Socket;
let cuts: string[];
let closed: Promise<unknown>;

beforeEach(async () => {
  cuts = [];
  server = createServer((request, response) => {
    watchForCut(response, () => cuts.push(request.url ?? ''));
    if (request.url === '/closing') response.setHeader('connection', 'close');
    response.end('answer');
  });
  closed = new Promise((resolve) => {
    server.once('connection', (socket: Socket) => socket.once('close', resolve));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
});
afterEach(async () => {
  client.destroy();
  server.close();
  await once(server, 'close');
});

async function ask(path: string, headers = '', version = '1.1'): Promise<void> {
  client.write(`GET ${path} HTTP/${version}\r\nHost: a\r\n${headers}\r\n`);
  await once(client, 'data');
}

async function leave(): Promise<void> {
  client.destroy();
  await closed;
}

describe('an answer', () => {
  test('whose connection closes at once may not have been read', async () => {
    await ask('/first');
    await leave();
    expect(cuts).toEqual(['/first']);
  });

  test('before another request was read', async () => {
    await ask('/first');
    await ask('/second');
    await leave();
    expect(cuts).toEqual(['/second']);
  });

  test('before a request that got no answer was read', async () => {
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (request.url === '/first') watchForCut(response, () => cuts.push('/first'));
      if (request.url === '/first') response.end('answer');
    });
    await ask('/first');
    client.write('GET /second HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(server, 'request');
    await leave();
    expect(cuts).toEqual([]);
  });

  test.each([
    ['says that it closes', '/first', 'Connection: close\r\n', '1.1'],
    ['speaks HTTP/1.0', '/first', '', '1.0'],
    ['is asked to close', '/closing', '', '1.1'],
  ])('was read by a client that %s', async (_what, path, headers, version) => {
    await ask(path, headers, version);
    await leave();
    expect(cuts).toEqual([]);
  });
});
