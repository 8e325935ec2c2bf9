import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CarReader } from '@ipld/car';
import * as dagPb from '@ipld/dag-pb';
import { fastify, type FastifyInstance } from 'fastify';
import { importer } from 'ipfs-unixfs-importer';
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
/** A directory: `notes/a.txt`, `page.html`, `large.bin` of many blocks. */
let directory: string;
const LARGE = Buffer.alloc(700_000, 255);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  blocks = createFolderBlocks(folder);
  json = (await createContentStore(blocks).putJson({ hello: 'world' })).slice('ipfs://'.length);
  const files = [
    { path: 'd/notes/a.txt', content: Buffer.from('a note') },
    { path: 'd/page.html', content: Buffer.from('<script>alert(1)</script>') },
    { path: 'd/large.bin', content: LARGE },
  ];
  const storage = {
    put: async (cid: CID, bytes: Uint8Array) => {
      await blocks.put(cid, bytes);
      return cid;
    },
    get: () => Promise.reject(new Error('not needed')),
  };
  let last = '';
  for await (const { cid } of importer(files, storage)) last = cid.toString();
  directory = last;
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
  expect((await app.inject({ method: 'HEAD', url: `/ipfs/${directory}/large.bin` })).headers).toMatchObject({
    'content-length': String(LARGE.length),
  });
});

it('gives a CAR of what a scope says, path included, each block once [REG-50]', async () => {
  const all = await carOf(`${directory}?format=car`);
  expect(all.roots).toEqual([directory]);
  expect(all.cids[0]).toBe(directory);
  expect(new Set(all.cids).size).toBe(all.cids.length);
  const entity = await carOf(`${directory}?dag-scope=entity`, {
    accept: 'application/vnd.ipld.car; version=1; order=dfs; dups=n',
  });
  expect(entity.cids).toEqual([directory]);
  expect(entity.answer.headers['content-type']).toBe(
    'application/vnd.ipld.car; version=1; order=dfs; dups=n',
  );

  const file = await carOf(`${directory}/large.bin?format=car&dag-scope=entity`);
  expect(file.cids[0]).toBe(directory);
  expect(file.cids).toContain(file.roots[0]);
  expect(file.answer.headers['x-ipfs-roots']).toBe(`${directory},${file.roots[0]}`);
  const repeated = await carOf(`${directory}/large.bin?format=car&car-dups=y`);
  // Two of its three parts are equal.
  expect(repeated.cids).toHaveLength(file.cids.length + 1);
  expect((await carOf(`${directory}/large.bin?format=car&dag-scope=block`)).cids).toHaveLength(2);
});

it('gives files and documents to a browser, which runs nothing of them [REG-50]', async () => {
  const document = await get(json, { accept: 'text/html,*/*;q=0.8' });
  expect([document.headers['content-type'], document.body]).toEqual([
    'application/json',
    '{"hello":"world"}',
  ]);
  const page = await get(`${directory}/page.html`, { accept: 'text/html' });
  expect(page.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  expect((await get(`${directory}/notes/a.txt`)).body).toBe('a note');
  const large = await get(`${directory}/large.bin`);
  expect(large.rawPayload.equals(LARGE)).toBe(true);
  expect(large.headers['content-disposition']).toMatch(/^attachment/);
});

it('answers the probe of a client, and no other content that is inside of its own address [REG-50]', async () => {
  expect((await get('bafkqaaa?format=raw')).statusCode).toBe(200);
  const inline = CID.create(1, raw.code, identity.digest(Buffer.from('<script>'))).toString();
  expect((await get(inline)).statusCode).toBe(400);
});

it('tells what is wrong with a request, and reads nothing from elsewhere [REG-50]', async () => {
  const absent = CID.create(1, raw.code, await sha256.digest(Buffer.from('absent'))).toString();
  const part = dagPb.encode({ Links: [{ Name: '', Tsize: 6, Hash: CID.parse(absent) }] });
  const partial = CID.create(1, dagPb.code, await sha256.digest(part));
  await blocks.put(partial, part);
  const cases: [string, number][] = [
    ['nonsense', 400],
    ['..%2f..%2fetc%2fpasswd', 400],
    [absent, 404],
    [`${absent}?format=raw`, 404],
    [`${absent}?format=car`, 404],
    [`${directory}/nowhere`, 404],
    [`${directory}/notes/a.txt/deeper`, 404],
    [`${json}/hello`, 404],
    [directory, 400],
    [`${partial.toString()}/x`, 404],
    [`${json}?format=tar`, 400],
    [`${json}?format=car&car-version=2`, 400],
    [`${json}?format=car&dag-scope=some`, 400],
    [`${directory}?format=json`, 400],
    [`${json}/${'a/'.repeat(65)}`, 400],
  ];
  for (const [path, status] of cases) expect([path, (await get(path)).statusCode]).toEqual([path, status]);
});
