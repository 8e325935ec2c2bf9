import type { KeyObject } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import { readBody, startHttpStandIn, type HttpStandIn } from '../../testing/index.js';
import { answerAsGateway, newArweaveKey, signTransaction, type Held } from './arweave.test-support.js';
import { FOREIGN_ITEMS } from './foreign-items.test-support.js';
import type { BlockStore } from '../blocks/block-store.js';
import { ContentRefusal, ContentUnavailableError } from '../reading/content-errors.js';
import { createContentReader, type ContentReader } from '../reading/content-reader.js';

const LIMITS = { fileBytes: 1_000_000, directoryBytes: 1_000_000, directoryEntries: 10 };
const TEXT = Buffer.from('a file of a user');
const NOWHERE: BlockStore = { get: async () => undefined, put: async () => {}, remove: async () => {} };

type Serve = (url: string, body: string, response: ServerResponse) => unknown;

let key: KeyObject;
let gateways: HttpStandIn[];
let held: Map<string, Held>;
/** What each gateway does. */
let serve: Serve[];
let asked: [gateway: number, url: string][];
let outbound: OutboundHttp;
let reader: ContentReader;

const honest: Serve = (url, body, response) => answerAsGateway(held, url, body, response);
/** Answers as an honest gateway whose data was changed. */
const changing =
  (change: (data: Buffer) => Buffer): Serve =>
  (url, body, response) =>
    answerAsGateway(
      new Map([...held].map(([id, one]) => [id, { ...one, data: change(one.data) }])),
      url,
      body,
      response,
    );
const readerOf = (of: readonly HttpStandIn[]) =>
  createContentReader({
    blocks: NOWHERE,
    ipfsGateways: [],
    arweaveGateways: of.map(({ origin }) => `${origin}/`),
    outbound,
  });

beforeAll(() => {
  key = newArweaveKey();
});
beforeEach(async () => {
  held = new Map(
    FOREIGN_ITEMS.map(({ id, node, data }) => [id, { node, data: Buffer.from(data, 'base64url') }]),
  );
  serve = [honest, honest];
  asked = [];
  const start = (index: number) =>
    startHttpStandIn(async (request, response) => {
      asked.push([index, request.url ?? '']);
      await serve[index]?.(request.url ?? '', await readBody(request), response);
    });
  gateways = [await start(0), await start(1)];
  outbound = createOutboundHttp(new Set(gateways.map(({ origin }) => origin)));
  reader = readerOf(gateways);
});
afterEach(async () => {
  await outbound.close();
  for (const gateway of gateways) await gateway.close();
});
afterAll(() => held.clear());

const hold = async (data: Buffer, tags?: { name: string; value: string }[]): Promise<string> => {
  const { id, held: one } = await signTransaction(key, data, tags);
  held.set(id, one);
  return id;
};
const [item] = FOREIGN_ITEMS;

it.each(FOREIGN_ITEMS)(
  'reads a data item of $name that a foreign library signed [REG-111]',
  async (foreign) => {
    const { bytes } = (await reader.read(`ar://${foreign.id}`, LIMITS)) as { bytes: Buffer };
    expect(bytes.toString('base64url')).toBe(foreign.data);
  },
);

it.each([1, 262_144, 262_145, 700_000])(
  'reads a transaction of %i bytes as the client of Arweave makes it [REG-111]',
  async (size) => {
    const data = Buffer.alloc(size, 'ab');
    const id = await hold(data, [{ name: 'Content-Type', value: 'text/csv; charset=utf-8' }]);
    expect(await reader.read(`ar://${id}`, LIMITS)).toEqual({
      kind: 'file',
      bytes: data,
      mediaType: 'text/csv',
    });
    expect(asked).toEqual([
      [0, `/tx/${id}`],
      [0, `/raw/${id}`],
    ]);
  },
);

it('follows the paths of a manifest, each of them checked [REG-111]', async () => {
  const file = await hold(TEXT);
  const paths = { 'a/b c.txt': { id: file }, '../x': { id: '../../etc/passwd' } };
  const type = [{ name: 'Content-Type', value: 'application/x.arweave-manifest+json' }];
  const manifest = async (named: object) =>
    hold(Buffer.from(JSON.stringify({ manifest: 'arweave/paths', paths: named })), type);
  const id = await manifest({ 'a/b c.txt': paths['a/b c.txt'] });
  expect(await reader.read(`ar://${id}/a/b%20c.txt`, LIMITS)).toMatchObject({ bytes: TEXT });
  await expect(reader.read(`ar://${id}/a`, LIMITS)).rejects.toThrow('the path leads nowhere');
  await expect(reader.read(`ar://${id}/constructor`, LIMITS)).rejects.toThrow('the path leads nowhere');
  await expect(reader.read(`ar://${await manifest(paths)}/a/b%20c.txt`, LIMITS)).rejects.toThrow('nowhere');
  await expect(reader.read(`ar://${file}/a`, LIMITS)).rejects.toThrow('the path leads into a file');
});

/** Faults of a gateway with the data of a transaction or a data item. */
const LIES: [string, Serve][] = [
  ['changes the data', changing((data) => Buffer.concat([Buffer.from('X'), data.subarray(1)]))],
  ['truncates the data', changing((data) => data.subarray(0, -1))],
  ['adds to the data', changing((data) => Buffer.concat([data, Buffer.from('X')]))],
  ['breaks off', (url, body, response) => breakOff(url, body, response)],
  ['gives nothing', changing(() => Buffer.alloc(0))],
  ['does not have it', (_url, _body, response) => response.writeHead(404).end()],
  ['fails', (_url, _body, response) => response.writeHead(500).end()],
  ['answers with pages', (_url, _body, response) => response.writeHead(200).end('<html></html>')],
  ['never ends', (_url, _body, response) => endless(response)],
];

async function breakOff(url: string, body: string, response: ServerResponse): Promise<void> {
  if (/^\/(?:tx\/|graphql)/.test(url)) return answerAsGateway(held, url, body, response);
  response.writeHead(200, { 'content-length': '16' }).write('a file');
  response.destroy();
}

function endless(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536)));
  };
  response.on('drain', more).writeHead(200);
  more();
}

it.each(LIES)('asks another gateway where the first one %s [REG-111]', async (_, lie) => {
  const id = await hold(TEXT);
  serve[0] = lie;
  expect(await reader.read(`ar://${id}`, LIMITS)).toMatchObject({ bytes: TEXT });
  expect(await reader.read(`ar://${item.id}`, LIMITS)).toMatchObject({ bytes: TEXT });
  expect(asked.some(([gateway]) => gateway === 0)).toBe(true);
});

it.each<[string, Serve]>([
  ['another transaction of the same owner', answerOther('transaction')],
  ['another item', answerOther('node')],
])('believes no gateway that gives %s [REG-111]', async (_, lie) => {
  const other = await hold(Buffer.from('something else'));
  const id = await hold(TEXT);
  swapped = { from: [id, item.id], to: [other, FOREIGN_ITEMS[1].id] };
  serve[0] = lie;
  const alone = readerOf(gateways.slice(0, 1));
  for (const one of swapped.from) {
    await expect(alone.read(`ar://${one}`, LIMITS)).rejects.toThrow(ContentRefusal);
    expect(await reader.read(`ar://${one}`, LIMITS)).toMatchObject({ bytes: TEXT });
  }
});

let swapped: { from: string[]; to: string[] };

/** Answers with whatever another id leads to, under the id that was asked for. */
function answerOther(part: 'transaction' | 'node'): Serve {
  return (url, body, response) => {
    const other = new Map(
      swapped.from.map((id, index) => {
        const one = held.get(swapped.to[index] ?? '');
        if (!one) throw new Error('nothing is there');
        const named = one[part] && { [part]: { ...one[part], id } };
        return [id, { ...one, ...named }];
      }),
    );
    return answerAsGateway(other, url, body, response);
  };
}

it('notices changes of signed data, the media type included [REG-111]', async () => {
  const alone = readerOf(gateways.slice(0, 1));
  const type = { name: 'Content-Type', value: 'text/html' };
  const id = await hold(TEXT, [{ name: 'Content-Type', value: 'text/plain' }]);
  const { transaction, data } = held.get(id) ?? { data: TEXT };
  const { node } = held.get(item.id) ?? {};
  const encoded = { name: btoa(type.name).replace(/=+$/, ''), value: btoa(type.value).replace(/=+$/, '') };
  for (const change of [
    { tags: [encoded] },
    { data_size: '17' },
    { format: 1, data_root: '' },
    { reward: '2' },
  ]) {
    held.set(id, { transaction: { ...transaction, ...change }, data });
    await expect(alone.read(`ar://${id}`, LIMITS)).rejects.toThrow(ContentRefusal);
  }
  for (const change of [{ tags: [type] }, { anchor: '' }, { recipient: '' }]) {
    held.set(item.id, { node: { ...node, ...change }, data: TEXT });
    await expect(alone.read(`ar://${item.id}`, LIMITS)).rejects.toThrow('does not match the id');
  }
});

it('reads no more than the limit, whatever a gateway says [REG-111]', async () => {
  const id = await hold(TEXT);
  const small = { ...LIMITS, fileBytes: TEXT.length - 1 };
  await expect(reader.read(`ar://${id}`, small)).rejects.toThrow('larger than 15 bytes');
  // A signed size is believed: neither the data nor another gateway is asked for.
  expect(asked).toEqual([[0, `/tx/${id}`]]);
  await expect(reader.read(`ar://${item.id}`, small)).rejects.toThrow('larger than 15 bytes');
});

it('tells absent content from a store that does not answer [REG-111]', async () => {
  const id = 'A'.repeat(43);
  await expect(reader.read(`ar://${id}`, LIMITS)).rejects.toThrow('there is no such content');
  serve[1] = (_url, _body, response) => response.writeHead(502).end();
  await expect(reader.read(`ar://${id}`, LIMITS)).rejects.toThrow(ContentUnavailableError);
  await expect(readerOf([]).read(`ar://${id}`, LIMITS)).rejects.toThrow('the operator has named no gateway');
});

it.each([
  'ar://',
  'ar://abc',
  `ar://${'A'.repeat(44)}`,
  `ar://${'A'.repeat(42)}!`,
  `ar:///${'A'.repeat(43)}`,
])('refuses %s before a gateway is asked', async (uri) => {
  await expect(reader.read(uri, LIMITS)).rejects.toThrow(ContentRefusal);
  expect(asked).toEqual([]);
});

it('calls no gateway in a private network that the operator did not name [REG-111]', async () => {
  const guarded = createOutboundHttp(new Set());
  const arweaveGateways = gateways.map(({ origin }) => origin);
  const strict = createContentReader({
    blocks: NOWHERE,
    ipfsGateways: [],
    arweaveGateways,
    outbound: guarded,
  });
  await expect(strict.read(`ar://${item.id}`, LIMITS)).rejects.toThrow(ContentUnavailableError);
  expect(asked).toEqual([]);
  await guarded.close();
});
