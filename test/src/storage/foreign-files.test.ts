import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { importer, type ImporterOptions } from 'ipfs-unixfs-importer';
import { fixedSize } from 'ipfs-unixfs-importer/chunker';
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

const MIB = 1024 * 1024;
const PROGRAM = `
const text = typeof input === 'string' ? input : JSON.stringify(input);
return { length: text.length, beginning: text.slice(0, 60) };
`;

/** The blocks that IPFS's importer made, by hash. */
const blocks = new Map<string, Uint8Array>();
let asked = 0;
/** Serves every block with a changed byte. */
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
  liar = await serve((bytes) => Buffer.concat([bytes, Buffer.from('x')]));
  gateway = await serve((bytes) => bytes);
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    IPFS_GATEWAY_URLS: `${originOf(liar)},${originOf(gateway)}`,
    SANDBOX_POOL_SIZE: '1',
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

/** Makes blocks of files as a client of IPFS does, and gives the address of the last: the root. */
async function add(
  files: { path?: string; content: Uint8Array }[],
  options?: ImporterOptions,
): Promise<string> {
  const storage = {
    put: async (cid: CID, bytes: Uint8Array) => {
      blocks.set(hashOf(cid), bytes);
      return cid;
    },
    get: () => {
      throw new Error('The importer reads nothing.');
    },
  };
  let root = '';
  for await (const { cid } of importer(files, storage, options)) root = cid.toString();
  return root;
}

test('a directory of 20 MB from another program is the input of a run, whole and by a path, past a lying gateway [EXE-48]', async () => {
  const files = Array.from({ length: 20 }, (_, index) => ({
    path: `part ${index}/text.txt`,
    content: Buffer.alloc(MIB, `${index} is the number of this file. `),
  }));
  const root = await add(files, { wrapWithDirectory: true });
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

test('a file of 1,000 blocks that another program made is the input of a run [EXE-48]', async () => {
  const text = Array.from({ length: 1_000 }, (_, index) => `${index}`.padEnd(4_096, '.')).join('');
  const held = blocks.size;
  const root = await add([{ content: Buffer.from(text) }], { chunker: fixedSize({ chunkSize: 4_096 }) });
  expect(blocks.size - held).toBeGreaterThan(1_000);
  const before = asked;
  expect((await run(`ipfs://${root}`)).output).toMatchObject({
    length: text.length,
    beginning: text.slice(0, 60),
  });
  expect(asked - before).toBeGreaterThan(1_000);
});
