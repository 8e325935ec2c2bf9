import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFolderContentStore, type ContentStore } from './content-store.js';

let folder: string;
let store: ContentStore;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'agent-rental-store-')), 'content');
  store = createFolderContentStore(folder);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

it('gives the CID that every IPFS implementation gives', async () => {
  // The vector of the DAG-JSON specification's own tools for {"hello":"world"}.
  expect(await store.putJson({ hello: 'world' })).toBe(
    'ipfs://baguqeerasords4njcts6vs7qvdjfcvgnume4hqohf65zsfguprqphs3icwea',
  );
});

it('gives a document back, and equal documents one address', async () => {
  const document = { name: 'agent', list: [1, 'two', null, { deep: true }], text: 'ü👩' };
  const uri = await store.putJson(document);
  expect(await store.getJson(uri)).toEqual(document);
  const { list, ...rest } = document;
  expect(await store.putJson({ list, ...rest })).toBe(uri);
  expect(await store.putJson({ ...document, name: 'other' })).not.toBe(uri);
  expect(readdirSync(folder)).toHaveLength(2);
});

it('stores the same document many times at once', async () => {
  const uris = await Promise.all(Array.from({ length: 20 }, () => store.putJson({ a: 1 })));
  expect(new Set(uris).size).toBe(1);
  expect(readdirSync(folder)).toHaveLength(1);
});

it('notices content that was changed', async () => {
  const uri = await store.putJson({ a: 1 });
  const file = join(folder, readdirSync(folder)[0] ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('1', '2'));
  await expect(store.getJson(uri)).rejects.toThrow(/does not match its hash/);
  writeFileSync(file, '');
  await expect(store.getJson(uri)).rejects.toThrow(/does not match its hash/);
});

it('removes a document, once or twice, and no other', async () => {
  const [uri, other] = [await store.putJson({ a: 1 }), await store.putJson({ a: 2 })];
  await store.remove(uri);
  await store.remove(uri);
  expect(await store.getJson(uri)).toBeNull();
  expect(await store.getJson(other)).toEqual({ a: 2 });
  await expect(store.remove('ipfs://../../etc/passwd')).rejects.toThrow();
});

it('has nothing under an address that was not stored, and reads nothing outside its folder', async () => {
  expect(
    await store.getJson('ipfs://baguqeerasords4njcts6vs7qvdjfcvgnume4hqohf65zsfguprqphs3icwea'),
  ).toBeNull();
  await expect(store.getJson('ipfs://../../etc/passwd')).rejects.toThrow();
});
