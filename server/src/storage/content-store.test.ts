import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as dagJson from '@ipld/dag-json';
import { CID } from 'multiformats/cid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { createDatabaseBlocks } from './blocks/database-blocks.js';
import { createFolderBlocks } from './blocks/folder-blocks.js';
import type { BlockStore } from './blocks/block-store.js';
import { createContentStore, type ContentStore } from './content-store.js';

let database: TemporaryDatabase;
let folder: string;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'agent-rental-store-')), 'content');
});
afterEach(async () => {
  rmSync(join(folder, '..'), { recursive: true, force: true });
  await database.db.deleteFrom('content_blocks').execute();
});

const cidOf = (uri: string) => CID.parse(uri.slice('ipfs://'.length));
/** Of the DAG-JSON specification's own tools for {"hello":"world"}. */
const HELLO = 'ipfs://baguqeerasords4njcts6vs7qvdjfcvgnume4hqohf65zsfguprqphs3icwea';

describe.each([
  ['a folder', () => createFolderBlocks(folder)],
  ['the database', () => createDatabaseBlocks(database.db)],
])('in %s', (_, open) => {
  let blocks: BlockStore;
  let store: ContentStore;
  beforeEach(() => {
    blocks = open();
    store = createContentStore(blocks);
  });
  const documentAt = async (uri: string): Promise<unknown> => {
    const bytes = await blocks.get(cidOf(uri));
    return bytes && dagJson.decode(bytes);
  };

  it('gives the CID that every IPFS implementation gives', async () => {
    expect(await store.putJson({ hello: 'world' })).toBe(HELLO);
  });

  it('gives a document back, and equal documents one address', async () => {
    const document = { name: 'agent', list: [1, 'two', null, { deep: true }], text: 'ü👩' };
    const uri = await store.putJson(document);
    expect(await documentAt(uri)).toEqual(document);
    const { list, ...rest } = document;
    expect(await store.putJson({ list, ...rest })).toBe(uri);
    expect(await store.putJson({ ...document, name: 'other' })).not.toBe(uri);
  });

  it('stores the same document many times at once', async () => {
    const uris = await Promise.all(Array.from({ length: 20 }, () => store.putJson({ a: 1 })));
    expect(new Set(uris).size).toBe(1);
  });

  it('removes a document, once or twice, and no other', async () => {
    const [uri, other] = [await store.putJson({ a: 1 }), await store.putJson({ a: 2 })];
    await store.remove(uri);
    await store.remove(uri);
    expect(await documentAt(uri)).toBeUndefined();
    expect(await documentAt(other)).toEqual({ a: 2 });
    await expect(store.remove('ipfs://../../etc/passwd')).rejects.toThrow();
  });
});

it('notices a file that was changed', async () => {
  const blocks = createFolderBlocks(folder);
  const uri = await createContentStore(blocks).putJson({ a: 1 });
  const file = join(folder, readdirSync(folder)[0] ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('1', '2'));
  await expect(blocks.get(cidOf(uri))).rejects.toThrow(/does not match its hash/);
});

it('notices a row that was changed', async () => {
  const blocks = createDatabaseBlocks(database.db);
  const uri = await createContentStore(blocks).putJson({ a: 1 });
  await database.db
    .updateTable('content_blocks')
    .set({ bytes: Buffer.from('{"a":2}') })
    .execute();
  await expect(blocks.get(cidOf(uri))).rejects.toThrow(/does not match its hash/);
});
