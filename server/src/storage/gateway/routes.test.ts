import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CarReader } from '@ipld/car';
import { fastify, type FastifyInstance } from 'fastify';
import { CID } from 'multiformats/cid';
import * as raw from 'multiformats/codecs/raw';
import { identity } from 'multiformats/hashes/identity';
import { sha256 } from 'multiformats/hashes/sha2';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toApiError } from '../../http/server.js';
import type { BlockStore } from '../blocks/block-store.js';
import { createFolderBlocks } from '../blocks/folder-blocks.js';
import { createContentStore } from '../content-store.js';
import { contentRoutes } from './routes.js';

let folder: string;
let blocks: BlockStore;
let app: FastifyInstance;
let json: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  blocks = createFolderBlocks(folder);
  json = (await createContentStore(blocks).putJson({ hello: 'world' })).slice('ipfs://'.length);
  app = fastify({ routerOptions: { maxParamLength: 200 } });
  contentRoutes(app, { blocks });
  app.setErrorHandler((error, _request, reply) => {
    const { status, message } = toApiError(error);
    return reply.code(status).send({ message });
  });
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/ipfs/${path}`, headers });
const carOf = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await get(path, headers);
  expect(answer.statusCode).toBe(200);
  const reader = await CarReader.fromBytes(answer.rawPayload);
  const cids: string[] = [];
  for await (const { cid, bytes } of reader.blocks()) {
    expect(CID.create(cid.version, cid.code, await sha256.digest(bytes)).equals(cid)).toBe(true);
    cids.push(cid.toString());
  }
  return { roots: (await reader.getRoots()).map(String), cids, answer };
};

it('gives a block as it is stored, for ever [REG-50]', async () => {
  for (const answer of [
    await get(`${json}?format=raw`),
    await get(json, { accept: 'application/vnd.ipld.raw' }),
  ]) {
    expect(answer.body).toBe('{"hello":"world"}');
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vnd.ipld.raw',
      'content-disposition': `attachment; filename="${json}.bin"`,
      'cache-control': 'public, max-age=29030400, immutable',
      etag: `"${json}.raw"`,
      'x-ipfs-path': `/ipfs/${json}`,
      'x-ipfs-roots': json,
      'x-content-type-options': 'nosniff',
      vary: 'Accept',
    });
  }
});

it('sends nothing to a caller that has it, and only headers to HEAD [REG-50]', async () => {
  const url = `/ipfs/${json}?format=raw`;
  const tags = ['*', `"${json}.raw"`, `W/"other", W/"${json}.raw"`];
  for (const tag of tags) {
    const answer = await app.inject({ url, headers: { 'if-none-match': tag } });
    expect([answer.statusCode, answer.body]).toEqual([304, '']);
  }
  expect((await app.inject({ url, headers: { 'if-none-match': `"${json}.car"` } })).statusCode).toBe(200);
  const head = await app.inject({ method: 'HEAD', url });
  expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', '17']);
});

it('gives a CAR of the one block, whatever its scope [REG-50]', async () => {
  const accept = 'application/vnd.ipld.car; version=1; order=dfs; dups=n';
  for (const [path, headers] of [
    [`${json}?format=car`, {}],
    [`${json}?dag-scope=entity`, { accept }],
    [`${json}?format=car&dag-scope=block&car-dups=y`, {}],
  ] as const) {
    const { roots, cids, answer } = await carOf(path, headers);
    expect([roots, cids]).toEqual([[json], [json]]);
    expect(answer.headers['content-type']).toBe(accept);
  }
  const head = await app.inject({ method: 'HEAD', url: `/ipfs/${json}?format=car` });
  expect([head.statusCode, head.body]).toEqual([200, '']);
});

it('gives a document to a browser, which runs nothing of it [REG-50]', async () => {
  const { headers, body } = await get(json, { accept: 'text/html,*/*;q=0.8' });
  expect(body).toBe('{"hello":"world"}');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-disposition': 'inline',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
});

it('answers the probe of a client, and no other content inside an address [REG-50]', async () => {
  for (const path of ['bafkqaaa', 'bafkqaaa?format=raw', 'bafkqaaa?format=car'])
    expect((await get(path)).statusCode).toBe(200);
  const inline = CID.create(1, raw.code, identity.digest(Buffer.from('<script>'))).toString();
  expect((await get(inline)).statusCode).toBe(400);
});

it('names the fault of a request, and reads nothing from elsewhere [REG-50]', async () => {
  const absent = CID.create(1, raw.code, await sha256.digest(Buffer.from('absent'))).toString();
  const bytes = Buffer.from('<script>');
  const page = CID.create(1, raw.code, await sha256.digest(bytes));
  await blocks.put(page, bytes);
  const cases: [string, number][] = [
    ['nonsense', 400],
    ['..%2f..%2fetc%2fpasswd', 400],
    [absent, 404],
    [`${absent}?format=raw`, 404],
    [`${absent}?format=car`, 404],
    [`${json}/hello`, 404],
    [`${json}?format=tar`, 400],
    [`${json}?format=car&car-version=2`, 400],
    [`${json}?format=car&dag-scope=some`, 400],
    [page.toString(), 200],
    [`${page.toString()}?format=json`, 400],
    [`${page.toString()}?format=raw`, 200],
  ];
  for (const [path, status] of cases) expect([path, (await get(path)).statusCode]).toEqual([path, status]);
});
