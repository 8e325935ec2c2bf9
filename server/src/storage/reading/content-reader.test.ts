import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as dagPb from '@ipld/dag-pb';
import { UnixFS } from 'ipfs-unixfs';
import { importer } from 'ipfs-unixfs-importer';
import { CID } from 'multiformats/cid';
import * as raw from 'multiformats/codecs/raw';
import { identity } from 'multiformats/hashes/identity';
import { sha256 } from 'multiformats/hashes/sha2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import { startHttpStandIn, type HttpStandIn } from '../../testing/index.js';
import { createFolderBlocks } from '../blocks/folder-blocks.js';
import { createContentStore } from '../content-store.js';
import { ContentRefusal, ContentUnavailableError } from './content-errors.js';
import { createContentReader, type ContentReader } from './content-reader.js';

const LIMITS = { fileBytes: 3_000_000, directoryBytes: 5_000_000, directoryEntries: 100 };
const TEXT = Buffer.from('a file of a user');

let folder: string;
let gateways: HttpStandIn[];
/** What each gateway was asked, in order. */
let asked: [gateway: number, path: string][];
/** What each gateway does. */
let serve: ((path: string, response: ServerResponse) => void | Promise<void>)[];
let outbound: OutboundHttp;
let reader: ContentReader;
let held: Map<string, Uint8Array>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'content-'));
  asked = [];
  held = new Map();
  serve = [];
  const start = (index: number) =>
    startHttpStandIn((request, response) => {
      asked.push([index, request.url ?? '']);
      return (serve[index] ?? nothing)(request.url ?? '', response);
    });
  gateways = [await start(0), await start(1)];
  outbound = createOutboundHttp(new Set(gateways.map(({ origin }) => origin)));
  reader = readerOf(gateways);
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await outbound.close();
  for (const gateway of gateways) await gateway.close();
});

const nothing = (_: string, response: ServerResponse) => void response.writeHead(404).end();
const readerOf = (of: HttpStandIn[]) =>
  createContentReader({
    blocks: createFolderBlocks(folder),
    ipfsGateways: of.map(({ origin }) => `${origin}/`),
    arweaveGateways: [],
    outbound,
  });
const rawCid = async (bytes: Uint8Array) => CID.create(1, raw.code, await sha256.digest(bytes));
const addressOf = async (bytes: Uint8Array) => `ipfs://${(await rawCid(bytes)).toString()}`;
const hold = async (code: number, bytes: Uint8Array, version: 0 | 1 = 1) => {
  const cid = CID.create(1, code, await sha256.digest(bytes));
  held.set(cid.toString(), bytes);
  return version === 1 ? cid : cid.toV0();
};
/** Adds files as an IPFS implementation does, and gives the root. */
const add = async (files: { path: string; content: Buffer }[], options: object = {}) => {
  let root: CID | undefined;
  const storage = {
    put: async (cid: CID, bytes: Uint8Array) => {
      held.set(cid.toV1().toString(), bytes);
      return cid;
    },
    get: async function* (cid: CID) {
      yield held.get(cid.toV1().toString()) ?? new Uint8Array();
    },
  };
  for await (const { cid } of importer(files, storage, options)) root = cid;
  if (!root) throw new Error('nothing was added');
  return root;
};
const cidIn = (path: string) => CID.parse(/^\/ipfs\/([a-zA-Z0-9]+)/.exec(path)?.[1] ?? '');
/** A gateway that knows single blocks alone, as the smallest trustless one. */
const blockGateway = (path: string, response: ServerResponse): void => {
  const bytes = held.get(cidIn(path).toV1().toString());
  if (!path.includes('format=raw')) response.writeHead(400).end();
  else if (!bytes) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': 'application/vnd.ipld.raw' }).end(bytes);
};
it('reads our own documents without asking anybody, and notices when one was changed [EXE-48]', async () => {
  const uri = await createContentStore(createFolderBlocks(folder)).putJson({ a: 1 });
  expect(await reader.read(uri, LIMITS)).toEqual({
    kind: 'file',
    bytes: Buffer.from('{"a":1}'),
    mediaType: 'application/json',
  });
  writeFileSync(join(folder, readdirSync(folder)[0] ?? ''), '{"a":2}');
  await expect(reader.read(uri, LIMITS)).rejects.toThrow(ContentRefusal);
  expect(asked).toEqual([]);
});

describe('reads a file of many blocks', () => {
  const LARGE = Buffer.from(Array.from({ length: 2_000_000 }, (_, index) => (index * 7919) % 251));
  it.each([
    ['raw leaves, version 1', { rawLeaves: true, cidVersion: 1 }],
    ['wrapped leaves, version 0', { rawLeaves: false, cidVersion: 0 }],
  ])('with %s [EXE-48]', async (_, options) => {
    const root = await add([{ path: 'large.bin', content: LARGE }], options);
    serve[0] = blockGateway;
    const content = await reader.read(`ipfs://${root.toString()}`, LIMITS);
    expect(content.kind === 'file' && content.bytes.equals(LARGE)).toBe(true);
    expect(asked).toHaveLength(held.size);
  });
});

it('fetches eight blocks of a file at the same time [EXE-48]', async () => {
  const root = await add([{ path: 'large.bin', content: randomBytes(8 * 262_144) }]);
  const waiting: (() => void)[] = [];
  serve[0] = (path, response) => {
    if (cidIn(path).equals(root)) return blockGateway(path, response);
    waiting.push(() => blockGateway(path, response));
    // No leaf is answered before all of them are asked for.
    if (waiting.length === 8) for (const answer of waiting.splice(0)) answer();
  };
  await expect(reader.read(`ipfs://${root.toString()}`, LIMITS)).resolves.toMatchObject({ kind: 'file' });
});

it('reads a path inside of a directory, sharded or not, and a directory whole [EXE-48]', async () => {
  serve[0] = blockGateway;
  const files = Array.from({ length: 60 }, (_, index) => ({
    path: `d/notes ${index}/ü.json`,
    content: Buffer.from(`{"n":${index}}`),
  }));
  for (const shardSplitThresholdBytes of [1_000_000, 100]) {
    const root = await add(files, { shardSplitThresholdBytes });
    expect(await reader.read(`ipfs://${root.toString()}/notes%207/ü.json`, LIMITS)).toEqual({
      kind: 'file',
      bytes: Buffer.from('{"n":7}'),
      mediaType: 'application/json',
    });
    const whole = await reader.read(`ipfs://${root.toString()}`, { ...LIMITS, directoryEntries: 120 });
    expect(whole.kind === 'directory' && whole.files.map(({ path }) => path).toSorted()).toEqual(
      files.map(({ path }) => path.slice('d/'.length)).toSorted(),
    );
    await expect(reader.read(`ipfs://${root.toString()}`, LIMITS)).rejects.toThrow('more than 100 entries');
    await expect(reader.read(`ipfs://${root.toString()}/notes`, LIMITS)).rejects.toThrow('leads nowhere');
  }
});

it('catches a gateway that lies or breaks off, and asks another one [EXE-48]', async () => {
  const root = await add([{ path: 'f', content: Buffer.alloc(600_000, 1) }], {
    rawLeaves: true,
    cidVersion: 1,
  });
  const uri = `ipfs://${root.toString()}`;
  const faults: ((path: string, response: ServerResponse) => void | Promise<void>)[] = [
    (_, response) => void response.end('something else'),
    (_, response) =>
      void response.writeHead(200, { 'content-length': '1000' }).write('half', () => response.destroy()),
    (_, response) => void response.destroy(),
    (_, response) => void response.writeHead(502).end(),
    (_, response) => void response.writeHead(404).end(),
    (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    (path, response) => void response.writeHead(302, { location: `${gateways[0]?.origin}${path}` }).end(),
    (_, response) => void response.writeHead(200).end(Buffer.alloc(3 * 1024 * 1024)),
  ];
  serve[1] = blockGateway;
  for (const fault of faults) {
    serve[0] = fault;
    const content = await reader.read(uri, LIMITS);
    expect(content.kind === 'file' && content.bytes.length).toBe(600_000);
  }
});

it.each<[string, (path: string, response: ServerResponse) => void, new (...args: never[]) => Error]>([
  ['that gives something else', (_, response) => response.end('another file'), ContentRefusal],
  ['that has no such content', (_, response) => response.writeHead(404).end(), ContentRefusal],
  ['that fails', (_, response) => response.writeHead(502).end(), ContentUnavailableError],
  ['that hangs up', (_, response) => response.destroy(), ContentUnavailableError],
])('believes no gateway %s [EXE-48]', async (_, answer, error) => {
  serve[0] = answer;
  await expect(readerOf(gateways.slice(0, 1)).read(await addressOf(TEXT), LIMITS)).rejects.toThrow(error);
});

it('sends no request where no gateway is named', async () => {
  await expect(readerOf([]).read(await addressOf(TEXT), LIMITS)).rejects.toThrow('no such content');
});

it('calls no gateway in a private network that the operator did not name [EXE-48]', async () => {
  const guarded = createOutboundHttp(new Set());
  const strict = createContentReader({
    blocks: createFolderBlocks(folder),
    ipfsGateways: gateways.map(({ origin }) => origin),
    arweaveGateways: [],
    outbound: guarded,
  });
  await expect(strict.read(await addressOf(TEXT), LIMITS)).rejects.toThrow(ContentUnavailableError);
  expect(asked).toEqual([]);
  await guarded.close();
});

describe('bounds its reads', () => {
  const fileOf = (children: { cid: CID; size: number }[]) => {
    const file = new UnixFS({ type: 'file', blockSizes: children.map(({ size }) => BigInt(size)) });
    const Links = children.map(({ cid, size }) => ({ Name: '', Tsize: size, Hash: cid }));
    return dagPb.encode({ Data: file.marshal(), Links });
  };
  beforeEach(() => {
    serve[0] = blockGateway;
  });

  it('a file that is too large, also where it says that it is small [EXE-48]', async () => {
    const large = await add([{ path: 'f', content: Buffer.alloc(3_000_001, 3) }]);
    await expect(reader.read(`ipfs://${large.toString()}`, LIMITS)).rejects.toThrow(
      'larger than 3000000 bytes',
    );
    const leaf = await hold(raw.code, Buffer.alloc(1_000_000, 5));
    const root = await hold(dagPb.code, fileOf(Array.from({ length: 10 }, () => ({ cid: leaf, size: 1 }))));
    await expect(reader.read(`ipfs://${root.toString()}`, LIMITS)).rejects.toThrow(ContentRefusal);
  });

  it('a bomb: few blocks that link to each other many times [EXE-48]', async () => {
    let child = await hold(raw.code, Buffer.from('x'));
    let size = 1;
    for (let level = 0; level < 30; level += 1) {
      const children = Array.from({ length: 10 }, () => ({ cid: child, size }));
      size = Math.min(size * 10, 1_000);
      child = await hold(dagPb.code, fileOf(children));
    }
    const started = performance.now();
    await expect(reader.read(`ipfs://${child.toString()}`, LIMITS)).rejects.toThrow(ContentRefusal);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('a chain of blocks that goes deeper and deeper [EXE-48]', async () => {
    let child = await hold(raw.code, Buffer.from('x'));
    for (let level = 0; level < 100; level += 1)
      child = await hold(dagPb.code, fileOf([{ cid: child, size: 1 }]));
    await expect(reader.read(`ipfs://${child.toString()}`, LIMITS)).rejects.toThrow('more than 64 deep');
  });

  it('contents that are read at the same time [EXE-48]', async () => {
    let resolve = () => {};
    const promise = new Promise<void>((done) => (resolve = done));
    serve[0] = async (path, response) => {
      await promise;
      nothing(path, response);
    };
    const uri = await addressOf(TEXT);
    const reads = Array.from({ length: 8 }, () => reader.read(uri, LIMITS).catch(String));
    await expect(reader.read(uri, LIMITS)).rejects.toThrow('Too many');
    resolve();
    expect(await Promise.all(reads)).toEqual(
      Array.from({ length: 8 }, () => expect.stringContaining('no such content')),
    );
  });
});

it.each([
  'ipfs://',
  'ipfs://nonsense',
  'ipfs://../../etc/passwd',
  'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG/../x',
  'ipfs://bafyreigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi',
  `ipfs://${CID.create(1, raw.code, identity.digest(TEXT)).toString()}`,
  'https://example.com/file',
])('%s is refused without a request', async (uri) => {
  await expect(reader.read(uri, LIMITS)).rejects.toThrow(ContentRefusal);
  expect(asked).toEqual([]);
});
