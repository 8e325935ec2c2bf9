import { CID } from 'multiformats/cid';
import { beforeAll, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { checkBlock, readCar } from './independent-reader.js';

const DAG_JSON = 0x0129;

let marketplace: Marketplace;
let cid: string;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  const { id } = marketplace.listing('per_query');
  const detail = await fetch(new URL(`/v1/listings/${id}`, marketplace.dev.base_url), {
    headers: { authorization: `Bearer ${marketplace.apiKey}` },
  });
  const { metadata_uri: metadataUri } = (await detail.json()) as { metadata_uri: string };
  expect(metadataUri).toMatch(/^ipfs:\/\//);
  cid = metadataUri.slice('ipfs://'.length);
});

const url = (path: string) => new URL(path, marketplace.dev.base_url);

test("a client that trusts no gateway reads a listing's manifest from the server, and checks it [REG-50]", async () => {
  const answer = await fetch(url(`/ipfs/${cid}?format=raw`), {
    headers: { accept: 'application/vnd.ipld.raw' },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/vnd.ipld.raw');
  const address = CID.parse(cid);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  expect(address.code).toBe(DAG_JSON);
  checkBlock(address, bytes);
  expect(() => checkBlock(address, bytes.subarray(1))).toThrow('not the bytes');
  expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({
    name: expect.any(String),
    input_schema: expect.any(Object),
  });
});

test('the CAR of a manifest has one root and one block, which its address names [REG-50]', async () => {
  const answer = await fetch(url(`/ipfs/${cid}?format=car`), {
    headers: { accept: 'application/vnd.ipld.car' },
  });
  expect(answer.status).toBe(200);
  const { roots, blocks } = readCar(new Uint8Array(await answer.arrayBuffer()));
  expect(roots).toEqual([cid]);
  expect([...blocks.keys()]).toEqual([cid]);
});

test('a block is the bytes of the document, and is kept for ever by caches [REG-50]', async () => {
  const raw = await fetch(url(`/ipfs/${cid}?format=raw`));
  expect(raw.headers.get('cache-control')).toContain('immutable');
  expect(raw.headers.get('access-control-allow-origin')).toBe('*');
  const shown = await fetch(url(`/ipfs/${cid}`), { headers: { accept: 'text/html' } });
  expect(shown.headers.get('content-type')).toContain('application/json');
  expect(await raw.text()).toBe(await shown.text());
});
