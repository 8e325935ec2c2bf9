import type { ServerResponse } from 'node:http';
import { CID } from 'multiformats/cid';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import { readBody, startHttpStandIn, type HttpStandIn } from '../../testing/index.js';
import { createPinningService } from './pinning-service.js';
import type { OutsideStore } from './outside-store.js';

const HELLO = CID.parse('baguqeerasords4njcts6vs7qvdjfcvgnume4hqohf65zsfguprqphs3icwea');
const ADDRESS = '/ip4/192.0.2.1/tcp/4001/p2p/12D3KooWQrStYWJcBkMVsJbzSrFUB8K4YFuwUcBGLQ1mPRiiyFbR';

let service: HttpStandIn;
let outbound: OutboundHttp;
let store: OutsideStore;
let asked: string[];
/** Statuses of the pin, one for each time it is asked for. */
let statuses: string[];
let pins: { requestid: string; status: string; pin: object }[];

beforeEach(async () => {
  asked = [];
  statuses = ['queued', 'pinned'];
  pins = [];
  service = await startHttpStandIn(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://service');
    asked.push(`${request.method} ${url.pathname}`);
    if (request.headers.authorization !== 'Bearer token') return void response.writeHead(401).end();
    const send = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return answer(request.method ?? '', url, await readBody(request), send, response);
  });
  outbound = createOutboundHttp(new Set([service.origin]));
  store = createPinningService(
    outbound,
    { url: `${service.origin}/`, token: 'token' },
    { addresses: async () => [ADDRESS] },
    5_000,
  );
});
afterEach(async () => {
  await outbound.close();
  await service.close();
});

/** The API, as its specification has it. */
function answer(
  method: string,
  url: URL,
  body: string,
  send: (status: number, body: object) => void,
  response: ServerResponse,
): void {
  const next = () => statuses.shift() ?? 'pinned';
  const [, , text] = url.pathname.split('/');
  const id = text === undefined ? undefined : decodeURIComponent(text);
  if (method === 'DELETE') {
    pins = pins.filter(({ requestid }) => requestid !== id);
    response.writeHead(202).end();
  } else if (method === 'POST') {
    const pin = { requestid: 'pin 1', status: next(), pin: JSON.parse(body) as object };
    pins.push(pin);
    send(202, pin);
  } else if (id === undefined) send(200, { count: pins.length, results: pins });
  else send(200, { ...pins[0], status: next() });
}

it('waits until the service has the content, and takes the pin away [REG-50]', async () => {
  await store.put(HELLO, new Uint8Array());
  expect(pins).toMatchObject([{ pin: { cid: HELLO.toString(), origins: [ADDRESS] } }]);
  expect(asked).toEqual(['GET /pins', 'POST /pins', 'GET /pins/pin%201']);
  await store.put(HELLO, new Uint8Array());
  expect(asked.filter((one) => one === 'POST /pins')).toHaveLength(1);
  await store.remove(HELLO);
  expect(pins).toEqual([]);
});

it('fails where the service cannot fetch the content, or answers in a form of its own [REG-50]', async () => {
  statuses = ['failed'];
  await expect(store.put(HELLO, new Uint8Array())).rejects.toThrow('could not fetch');
  pins = [];
  statuses = ['lost'];
  await expect(store.put(HELLO, new Uint8Array())).rejects.toThrow('form of its own');
});
