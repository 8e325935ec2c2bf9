import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CID } from 'multiformats/cid';
import * as dagJson from '@ipld/dag-json';
import { sha256 } from 'multiformats/hashes/sha2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import { readBody, startHttpStandIn, type HttpStandIn } from '../../testing/index.js';
import { createFolderBlocks } from '../blocks/folder-blocks.js';
import { createContentStore, type ContentStore } from '../content-store.js';
import { createKuboStore } from './kubo-store.js';

let folder: string;
let node: HttpStandIn;
let outbound: OutboundHttp;
let store: ContentStore;
let held: Map<string, string>;
let authorizations: (string | undefined)[];
/** Takes the place of the node's answer to one command. */
let fault: { command: string; answer: (response: ServerResponse) => void } | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubo-'));
  held = new Map();
  authorizations = [];
  fault = undefined;
  node = await startHttpStandIn(answer);
  outbound = createOutboundHttp(new Set([node.origin]));
  const kubo = createKuboStore(outbound, { url: `${node.origin}/`, token: 'secret' });
  store = createContentStore(createFolderBlocks(folder), kubo);
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await outbound.close();
  await node.close();
});

/** The commands of Kubo's API that are used, as it answers them. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://node');
  const command = url.pathname.slice('/api/v0/'.length);
  authorizations.push(request.headers.authorization);
  const body = await readBody(request);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  if (fault?.command === command) return fault.answer(response);
  const arg = url.searchParams.get('arg') ?? '';
  switch (command) {
    case 'block/put': {
      const [, content = ''] = /\r\n\r\n([^]*)\r\n--/.exec(body) ?? [];
      const cid = CID.create(1, dagJson.code, await sha256.digest(Buffer.from(content))).toString();
      if (url.searchParams.get('cid-codec') !== 'dag-json' || url.searchParams.get('pin') !== 'true')
        return void response.writeHead(400).end();
      held.set(cid, content);
      return void response.end(JSON.stringify({ Key: cid, Size: content.length }));
    }
    case 'block/get':
      return void response.end(held.get(arg));
    case 'pin/rm':
      held.delete(arg);
      return void response.end(JSON.stringify({ Pins: [arg] }));
    default:
      return void response.writeHead(404).end();
  }
}

it('stores a document in the node, and lets go of it [REG-50]', async () => {
  const uri = await store.putJson({ hello: 'world' });
  expect([...held]).toEqual([[uri.slice('ipfs://'.length), '{"hello":"world"}']]);
  expect(new Set(authorizations)).toEqual(new Set(['Bearer secret']));
  await store.remove(uri);
  expect(held.size).toBe(0);
});

it.each<[string, string, (response: ServerResponse) => void]>([
  ['stores something else', 'block/put', (response) => response.end('{"Key":"bafkqaaa"}')],
  ['answers with no JSON', 'block/put', (response) => response.end('<html>')],
  ['refuses', 'block/put', (response) => response.writeHead(403).end()],
  ['has no such API', 'block/put', (response) => response.writeHead(404).end()],
  ['gives something else back', 'block/get', (response) => response.end('{"hello":"you"}')],
  ['has lost it', 'block/get', (response) => response.writeHead(500).end()],
  ['hangs up', 'block/get', (response) => response.destroy()],
])('tells no address while the node %s [REG-50]', async (_, command, failing) => {
  fault = { command, answer: failing };
  await expect(store.putJson({ hello: 'world' })).rejects.toThrow();
  fault = undefined;
  // The next try of the job stores it.
  await expect(store.putJson({ hello: 'world' })).resolves.toMatch(/^ipfs:/);
});
