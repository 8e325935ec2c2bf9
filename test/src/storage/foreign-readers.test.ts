import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withHTTP } from '@helia/http';
import { createVerifiedFetchWithHelia } from '@helia/verified-fetch';
import * as dagJson from '@ipld/dag-json';
import { createHeliaLight } from 'helia';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { addWhatNode20Lacks } from './node-22.js';
import { attach, type Marketplace } from '../support/marketplace.js';

const execute = promisify(execFile);
/** Its command line, which checks each block against its address. */
const IPFS_CAR = join(dirname(createRequire(import.meta.url).resolve('ipfs-car')), 'bin.js');

let marketplace: Marketplace;
let cid: string;
let metadataUri: string;

beforeAll(async () => {
  addWhatNode20Lacks();
  marketplace = await attach(inject('stateDir'));
  const { id } = marketplace.listing('per_query');
  const detail = await fetch(new URL(`/v1/listings/${id}`, marketplace.dev.base_url), {
    headers: { authorization: `Bearer ${marketplace.apiKey}` },
  });
  ({ metadata_uri: metadataUri } = (await detail.json()) as { metadata_uri: string });
  cid = metadataUri.slice('ipfs://'.length);
});

const url = (path: string) => new URL(path, marketplace.dev.base_url);

test("Helia's verified-fetch reads a listing's manifest from the server, and checks it [REG-50]", async () => {
  const helia = withHTTP(createHeliaLight({ codecs: [dagJson] }), {
    // Without a router Helia waits for ever; this one knows no providers, and the gateway is asked.
    delegatedRouters: [marketplace.dev.base_url],
    recursiveGateways: [marketplace.dev.base_url],
    allowLocal: true,
    allowInsecure: true,
  });
  const verifiedFetch = await createVerifiedFetchWithHelia(await helia.start());
  try {
    const answer = await verifiedFetch(metadataUri);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ name: expect.any(String), input_schema: expect.any(Object) });
  } finally {
    await verifiedFetch.stop();
  }
});

test('ipfs-car reads the CAR of a manifest, and finds the block that its address names [REG-50]', async () => {
  const answer = await fetch(url(`/ipfs/${cid}?format=car`), {
    headers: { accept: 'application/vnd.ipld.car' },
  });
  expect(answer.status).toBe(200);
  const folder = await mkdtemp(join(tmpdir(), 'ipfs-car-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const car = join(folder, 'manifest.car');
  await writeFile(car, Buffer.from(await answer.arrayBuffer()));
  for (const command of ['roots', 'blocks']) {
    const { stdout } = await execute(process.execPath, [IPFS_CAR, command, car]);
    expect([command, stdout.trim()]).toEqual([command, cid]);
  }
});

test('a block is the bytes of the document, and is kept for ever by caches [REG-50]', async () => {
  const raw = await fetch(url(`/ipfs/${cid}?format=raw`));
  expect(raw.headers.get('cache-control')).toContain('immutable');
  expect(raw.headers.get('access-control-allow-origin')).toBe('*');
  const shown = await fetch(url(`/ipfs/${cid}`), { headers: { accept: 'text/html' } });
  expect(shown.headers.get('content-type')).toContain('application/json');
  expect(await raw.text()).toBe(await shown.text());
});
