import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CID } from 'multiformats/cid';
import * as raw from 'multiformats/codecs/raw';
import { identity } from 'multiformats/hashes/identity';
import { sha256 } from 'multiformats/hashes/sha2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startHttpStandIn, type HttpStandIn } from '../testing/index.js';
import {
  ContentRefusal,
  ContentUnavailableError,
  createContentReader,
  type ContentReader,
} from './content-reader.js';
import { createFolderContentStore } from './content-store.js';

const MAX = 10_000;
const TEXT = Buffer.from('a file of a user');

let folder: string;
let gateway: HttpStandIn;
let asked: string[];
let serve: (response: ServerResponse) => void;
let reader: ContentReader;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'content-'));
  asked = [];
  gateway = await startHttpStandIn((request, response) => {
    asked.push(request.url ?? '');
    serve(response);
  });
  reader = createContentReader({ folder, gatewayUrl: `${gateway.origin}/` });
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await gateway.close();
});

const addressOf = async (bytes: Uint8Array) =>
  `ipfs://${CID.create(1, raw.code, await sha256.digest(bytes)).toString()}`;

it('reads our own documents without asking anybody, and notices when one was changed [EXE-48]', async () => {
  const uri = await createFolderContentStore(folder).putJson({ a: 1 });
  expect(await reader.read(uri, MAX)).toEqual({
    bytes: Buffer.from('{"a":1}'),
    mediaType: 'application/json',
  });
  writeFileSync(join(folder, readdirSync(folder)[0] ?? ''), '{"a":2}');
  await expect(reader.read(uri, MAX)).rejects.toThrow(ContentRefusal);
  expect(asked).toEqual([]);
});

it('reads a file by the gateway, as the block that its address names [EXE-48]', async () => {
  serve = (response) => void response.writeHead(200).end(TEXT);
  const uri = await addressOf(TEXT);
  expect(await reader.read(uri, MAX)).toEqual({ bytes: TEXT, mediaType: 'application/octet-stream' });
  expect(asked).toEqual([`/ipfs/${uri.slice('ipfs://'.length)}?format=raw`]);
});

it.each<[string, (response: ServerResponse) => void, new (...args: never[]) => Error]>([
  ['that gives something else', (response) => response.end('another file'), ContentRefusal],
  ['that has no such content', (response) => response.writeHead(404).end(), ContentRefusal],
  ['that gives more than is taken', (response) => response.end(Buffer.alloc(MAX + 1)), ContentRefusal],
  ['that fails', (response) => response.writeHead(502).end(), ContentUnavailableError],
  ['that hangs up', (response) => response.destroy(), ContentUnavailableError],
])('believes no gateway %s', async (_, answer, error) => {
  serve = answer;
  await expect(reader.read(await addressOf(TEXT), MAX)).rejects.toThrow(error);
});

it('sends no request where no gateway is named', async () => {
  const alone = createContentReader({ folder, gatewayUrl: undefined });
  await expect(alone.read(await addressOf(TEXT), MAX)).rejects.toThrow('no such content');
});

it.each([
  'ipfs://',
  'ipfs://nonsense',
  'ipfs://../../etc/passwd',
  'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
  'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi',
  `ipfs://${CID.create(1, raw.code, identity.digest(TEXT)).toString()}`,
])('%s is refused without a request', async (uri) => {
  await expect(reader.read(uri, MAX)).rejects.toThrow(ContentRefusal);
  expect(asked).toEqual([]);
});
