import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unixfs } from '@helia/unixfs';
import { createHeliaLight } from 'helia';
import { createDirectoryEncoderStream } from 'ipfs-car';
import { CID } from 'multiformats/cid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishProgram, rentAgent } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { addWhatNode20Lacks } from './node-22.js';

const MIB = 1024 * 1024;
const PROGRAM = `
const text = typeof input === 'string' ? input : JSON.stringify(input);
return { length: text.length, beginning: text.slice(0, 60) };
`;

/** What foreign clients made, by hash: Helia keeps its blocks without their codecs. */
const blocks = new Map<string, Uint8Array>();
let asked = 0;
/** Gives everything with a byte changed. */
let liar: Server;
let gateway: Server;
let stateDir: string;
let marketplace: OwnMarketplace;
let renter: Participant;
let agentId: string;

const hashOf = ({ multihash }: { multihash: { bytes: Uint8Array } }) =>
  Buffer.from(multihash.bytes).toString('hex');
const serve = async (change: (bytes: Uint8Array) => Uint8Array): Promise<Server> => {
  const server = createServer((request, response) => {
    asked += 1;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway');
    const bytes = blocks.get(hashOf(CID.parse(pathname.split('/')[2] ?? '')));
    if (searchParams.get('format') !== 'raw' || !bytes) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'application/vnd.ipld.raw' }).end(change(bytes));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  addWhatNode20Lacks();
  liar = await serve((bytes) => Buffer.concat([bytes, Buffer.from('x')]));
  gateway = await serve((bytes) => bytes);
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    IPFS_GATEWAY_URLS: `${originOf(liar)},${originOf(gateway)}`,
  });
  const creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  agentId = await publishProgram(marketplace, creator, PROGRAM);
  await rentAgent(renter, agentId);
});
afterAll(async () => {
  await marketplace?.stop();
  for (const server of [liar, gateway]) server?.close();
  await removeStateDir(stateDir);
});

const run = (inputUri: string) =>
  renter.client.execute({ agent_id: agentId, task: 'look', input_uri: inputUri });

test('a directory of 20 MB made by ipfs-car is the input of a run, whole and by a path, past a gateway that lies [EXE-80, EXE-81]', async () => {
  const files = Array.from({ length: 20 }, (_, index) => {
    const content = Buffer.alloc(MIB, `${index} is the number of this file. `);
    return { name: `part ${index}/text.txt`, stream: () => new Blob([content]).stream() };
  });
  let root = '';
  for await (const { cid, bytes } of createDirectoryEncoderStream(files)) {
    blocks.set(hashOf(cid), bytes);
    root = cid.toString();
  }
  const whole = await run(`ipfs://${root}`);
  expect(whole.status).toBe('completed');
  expect(whole.output).toMatchObject({
    beginning: JSON.stringify({ media_type: 'inode/directory', size_bytes: 20 * MIB }),
  });
  const part = await run(`ipfs://${root}/part%2013/text.txt`);
  expect(part.output).toMatchObject({
    length: MIB,
    beginning: expect.stringMatching(/^13 is the number/),
  });
});

test('a file of 1,000 blocks made by Helia is the input of a run [EXE-80]', async () => {
  const helia = await createHeliaLight().start();
  const text = Array.from({ length: 1_000 }, (_, index) => `${index}`.padEnd(4_096, '.')).join('');
  const cid = await unixfs(helia).addBytes(Buffer.from(text), {
    chunker: async function* (source) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of source) chunks.push(chunk);
      const all = Buffer.concat(chunks);
      for (let at = 0; at < all.length; at += 4_096) yield all.subarray(at, at + 4_096);
    },
  });
  let made = 0;
  for await (const { cid: block, bytes } of helia.blockstore.getAll()) {
    const parts: Uint8Array[] = [];
    for await (const chunk of bytes) parts.push(chunk);
    blocks.set(hashOf(block), Buffer.concat(parts));
    made += 1;
  }
  await helia.stop();
  expect(made).toBeGreaterThan(1_000);
  const before = asked;
  expect((await run(`ipfs://${cid.toString()}`)).output).toMatchObject({
    length: text.length,
    beginning: text.slice(0, 60),
  });
  expect(asked - before).toBeGreaterThan(1_000);
});
