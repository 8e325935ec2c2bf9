import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Arweave from 'arweave';
import { CID } from 'multiformats/cid';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import { readBody, startHttpStandIn, type HttpStandIn } from '../../testing/index.js';
import {
  answerAsBundler,
  answerAsGateway,
  newArweaveKey,
  type Held,
} from '../arweave/arweave.test-support.js';
import { deepHash } from '../arweave/arweave-library.js';
import { signDataItem } from '../arweave/data-item.js';
import type { BlockStore } from '../blocks/block-store.js';
import { createContentStore } from '../content-store.js';
import { createContentReader } from '../reading/content-reader.js';
import { GatewayError } from '../reading/gateway-requests.js';
import { arweaveKeyOf, createArweaveStore } from './arweave-store.js';

const DOCUMENT = { name: 'agent', text: 'ü👩' };
const BYTES = Buffer.from('{"name":"agent","text":"ü👩"}');
const LIMITS = { fileBytes: 10_000, directoryBytes: 10_000, directoryEntries: 1 };

let key: KeyObject;
let held: Map<string, Held>;
let bundler: HttpStandIn;
let gateway: HttpStandIn;
let outbound: OutboundHttp;
let uploads: number;
/** Takes the place of the bundler. */
let fault: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
/** Hands an item of the bundler on to the gateway. */
let handOn: (id: string, one: Held) => void;

beforeAll(() => {
  key = newArweaveKey();
});
beforeEach(async () => {
  held = new Map();
  uploads = 0;
  fault = undefined;
  handOn = (id, one) => held.set(id, one);
  bundler = await startHttpStandIn((request, response) => {
    uploads += 1;
    if (fault) return fault(request, response);
    return answerAsBundler(request, response, (id, one) => handOn(id, one));
  });
  gateway = await startHttpStandIn(async (request, response) =>
    answerAsGateway(held, request.url ?? '', await readBody(request), response),
  );
  outbound = createOutboundHttp(new Set([bundler.origin, gateway.origin]));
});
afterEach(async () => {
  await outbound.close();
  await bundler.close();
  await gateway.close();
});

const open = (waitMs = 0) =>
  createArweaveStore(
    { gateways: [gateway.origin], outbound },
    { bundlerUrl: `${bundler.origin}/v1/`, key },
    { waitMs, askEveryMs: 1 },
  );
const readerOf = (blocks: BlockStore) =>
  createContentReader({ blocks, ipfsGateways: [], arweaveGateways: [gateway.origin], outbound });
const memory = (): BlockStore & { kept: Map<string, Uint8Array> } => {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    get: async (cid) => kept.get(cid.toString()),
    put: async (cid, bytes) => void kept.set(cid.toString(), bytes),
    remove: async (cid) => void kept.delete(cid.toString()),
  };
};

it('gives an ar:// address under which our own reader finds the document [REG-50]', async () => {
  const uri = await createContentStore(undefined, undefined, open()).putJson(DOCUMENT);
  expect(uri).toMatch(/^ar:\/\/[\w-]{43}$/);
  expect(await readerOf(memory()).read(uri, LIMITS)).toEqual({
    kind: 'file',
    bytes: BYTES,
    mediaType: 'application/json',
  });
});

it('beside IPFS stores in both, and the IPFS address is named in the item [REG-50]', async () => {
  const blocks = memory();
  const store = createContentStore(blocks, undefined, open());
  const uri = await store.putJson(DOCUMENT);
  const cid = CID.parse(uri.slice('ipfs://'.length)).toString();
  expect([...blocks.kept.keys()]).toEqual([cid]);
  const [one] = [...held.values()];
  expect(one).toMatchObject({ data: BYTES, node: { tags: [{}, { name: 'IPFS-CID', value: cid }] } });
  await store.remove(uri);
  expect(blocks.kept.size).toBe(0);
});

it('has an item signed as Arweave asks, and the same one for the same document [REG-50]', async () => {
  const tags = [{ name: 'Content-Type', value: 'application/json' }];
  const item = await signDataItem(key, BYTES, tags);
  expect(await signDataItem(key, BYTES, tags)).toEqual(item);
  const bytes = Buffer.from(item.bytes);
  const rawTags = bytes.subarray(1_044, bytes.length - BYTES.length);
  const none = new Uint8Array();
  const message = await deepHash([
    ...['dataitem', '1', '1'].map((word) => Buffer.from(word)),
    bytes.subarray(514, 1_026),
    none,
    none,
    rawTags,
    BYTES,
  ]);
  // By the library alone.
  const { crypto } = Arweave;
  const modulus = bytes.subarray(514, 1_026).toString('base64url');
  expect(await crypto.verify(modulus, message, bytes.subarray(2, 514))).toBe(true);
});

it('sends nothing twice, also not after a start that was cut off [REG-50]', async () => {
  const first = await createContentStore(undefined, undefined, open()).putJson(DOCUMENT);
  expect(await createContentStore(undefined, undefined, open()).putJson(DOCUMENT)).toBe(first);
  expect(uploads).toBe(1);
});

it('gives no address before a gateway has the bytes [REG-50]', async () => {
  handOn = () => {};
  await expect(open().put(await cidOf(), BYTES)).rejects.toThrow('no Arweave gateway has');
  handOn = (id, one) => held.set(id, { ...one, data: Buffer.from('{"name":"other"}') });
  await expect(open().put(await cidOf(), BYTES)).rejects.toThrow('no Arweave gateway has');
  handOn = (id, one) => void setImmediate(() => held.set(id, one));
  expect(await open(5_000).put(await cidOf(), BYTES)).toMatch(/^ar:/);
});

it.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
  ['is not there', (_, response) => response.writeHead(404).end()],
  ['wants to be paid', (_, response) => response.writeHead(402).end('Insufficient balance')],
  ['fails', (_, response) => response.writeHead(500).end()],
  ['says nothing', (_, response) => response.writeHead(200).end()],
  ['took another item', (_, response) => response.writeHead(200).end(`{"id":"${'A'.repeat(43)}"}`)],
  ['breaks off', (_, response) => response.destroy()],
])('fails where the bundler %s, and works when it is tried again [REG-50]', async (_, wrong) => {
  fault = wrong;
  const store = createContentStore(undefined, undefined, open());
  await expect(store.putJson(DOCUMENT)).rejects.toThrow(GatewayError);
  fault = undefined;
  expect(await store.putJson(DOCUMENT)).toMatch(/^ar:/);
});

it('takes the key of an Arweave wallet alone [REG-50]', () => {
  expect(arweaveKeyOf(JSON.stringify(key.export({ format: 'jwk' })))).toBeDefined();
  expect(() => arweaveKeyOf('[1,2,3]')).toThrow('ARWEAVE_KEY_FILE holds no private key');
  expect(() => arweaveKeyOf('-----BEGIN')).toThrow('ARWEAVE_KEY_FILE holds no private key');
  const short = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  expect(() => arweaveKeyOf(JSON.stringify(short))).toThrow('4096');
});

const cidOf = async () => CID.parse('baguqeerasords4njcts6vs7qvdjfcvgnume4hqohf65zsfguprqphs3icwea');
