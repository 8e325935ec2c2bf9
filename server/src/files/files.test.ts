import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeExpired } from '../runs/index.js';
import { deriveKeys } from '../platform/keys.js';
import { type TemporaryDatabase, loginOf, newWallet, openTestDatabase } from '../testing/index.js';
import { ContentUnavailableError } from '../storage/index.js';
import { createFileRepository, type FileRepository } from './repository.js';
import { createFileService } from './service.js';

const KIB = 1024;
let database: TemporaryDatabase;
let files: FileRepository;
beforeAll(async () => {
  database = await openTestDatabase();
  files = createFileRepository(database.db, deriveKeys(new Uint8Array(32).fill(9)));
});
afterAll(() => database.close());

async function* chunksOf(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += size) yield content.subarray(start, start + size);
}
const service = (options: { walletBytes?: number; rentals?: number } = {}) =>
  createFileService({
    files,
    content: { read: () => Promise.reject(new ContentUnavailableError('away')) },
    credentials: { list: async () => ({ credentials: [], total: options.rentals ?? 1 }) },
    ...(options.walletBytes === undefined ? {} : { walletBytes: options.walletBytes }),
  });
const left = async (wallet: string) =>
  database.db.selectFrom('files').select('id').where('wallet', '=', wallet).execute();

it.each([1, 7 * KIB, 256 * KIB, 600 * KIB])(
  'a file that comes in chunks of %i bytes is the same file',
  async (size) => {
    const content = randomBytes(size === 1 ? 3 : 1_300 * KIB + 1);
    const file = await files.store(loginOf(newWallet()), 'text/plain', chunksOf(content, size));
    expect(file.size_bytes).toBe(content.length);
    expect((await files.read(file)).equals(content)).toBe(true);
  },
);

it('is sealed in the database, part by part, each in its place [RUN-16]', async () => {
  const wallet = newWallet();
  const file = await files.store(
    loginOf(wallet),
    'text/plain',
    chunksOf(Buffer.from('SECRET'.repeat(100 * KIB)), KIB),
  );
  const parts = await database.db
    .selectFrom('file_parts')
    .selectAll()
    .where('file_id', '=', file.id)
    .orderBy('position')
    .execute();
  expect(parts.length).toBeGreaterThan(1);
  for (const { sealed } of parts) expect(sealed.includes('SECRET')).toBe(false);
  const [first, second] = parts;
  await database.db
    .updateTable('file_parts')
    .set({ sealed: second?.sealed ?? Buffer.alloc(0) })
    .where('file_id', '=', file.id)
    .where('position', '=', first?.position ?? 0)
    .execute();
  await expect(files.read(file)).rejects.toThrow();
});

it('whose upload breaks off leaves nothing', async () => {
  const wallet = newWallet();
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(600 * KIB);
    throw new Error('broke off');
  }
  await expect(service().store(loginOf(wallet), 'text/plain', broken())).rejects.toThrow('broke off');
  expect(await left(wallet)).toEqual([]);
});

it('beyond the limit of its wallet is refused, also when many come at once, until some are deleted', async () => {
  const wallet = newWallet();
  const { store, delete: remove } = service({ walletBytes: 2_048 * KIB });
  const content = Buffer.alloc(1_024 * KIB, 'x');
  const first = await store(loginOf(wallet), 'text/plain', chunksOf(content, 64 * KIB));
  await store(loginOf(wallet), 'text/plain', chunksOf(content, 64 * KIB));
  const more = () => store(loginOf(wallet), 'text/plain', chunksOf(Buffer.alloc(KIB), KIB));
  await expect(more()).rejects.toMatchObject({ code: 'invalid_request' });
  await remove(first.file_id, loginOf(wallet));
  expect(await more()).toMatchObject({ size_bytes: KIB });

  const hoarder = newWallet();
  const greedy = await Promise.allSettled(
    Array.from({ length: 6 }, () =>
      service({ walletBytes: 3 * 1_024 * KIB }).store(
        loginOf(hoarder),
        'text/plain',
        chunksOf(Buffer.alloc(5 * 1_024 * KIB), 64 * KIB),
      ),
    ),
  );
  expect(greedy.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  expect(await left(hoarder)).toEqual([]);
});

it('is gone after 24 hours, and sooner when it was never complete [RUN-16]', async () => {
  const wallet = newWallet();
  const { store, readInput, find } = service();
  const kept = await store(loginOf(wallet), 'text/plain', chunksOf(Buffer.from('kept'), KIB));
  const old = await store(loginOf(wallet), 'text/plain', chunksOf(Buffer.from('old'), KIB));
  const cut = await store(loginOf(wallet), 'text/plain', chunksOf(Buffer.from('cut'), KIB));
  const set = (id: string, fields: { expires_at?: Date; created_at?: Date; is_complete?: boolean }) =>
    database.db.updateTable('files').set(fields).where('id', '=', id).execute();
  await set(old.file_id, { expires_at: new Date(Date.now() - 1_000) });
  await set(cut.file_id, { is_complete: false, created_at: new Date(Date.now() - 3_601_000) });
  // Not even before the job has come round.
  await expect(find(old.file_id, loginOf(wallet))).rejects.toMatchObject({ code: 'not_found' });
  await expect(readInput(old.input_uri, loginOf(wallet))).rejects.toMatchObject({ code: 'invalid_request' });
  await removeExpired(database.db);
  expect(await left(wallet)).toEqual([{ id: kept.file_id }]);
  expect(await readInput(kept.input_uri, loginOf(wallet))).toEqual({ value: 'kept' });
});

it('of a wallet that rents nothing is not taken', async () => {
  const wallet = newWallet();
  const stored = service({ rentals: 0 }).store(loginOf(wallet), 'text/plain', chunksOf(Buffer.from('x'), 1));
  await expect(stored).rejects.toMatchObject({ code: 'credential_not_found' });
  expect(await left(wallet)).toEqual([]);
});

it('of a store that does not answer is 503, and of no known store is 400', async () => {
  const { readInput } = service();
  for (const uri of ['ipfs://bafkqaaa', `ar://${'A'.repeat(43)}`]) {
    await expect(readInput(uri, loginOf(newWallet()))).rejects.toMatchObject({ code: 'service_unavailable' });
  }
  for (const uri of ['ar:/abc', 'https://example.com/file', 'file:///etc/passwd', 'ipfs:/x', '']) {
    await expect(readInput(uri, loginOf(newWallet()))).rejects.toMatchObject({ code: 'invalid_request' });
  }
});
