import { FILE_KEPT_HOURS } from '@agent-rental/contract';
import { randomUUID } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import { seenBy, type Owner } from '../access/owner.js';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';
import type { SealedPlace } from '../database/sealed-places.js';
import type { Keys } from '../platform/keys.js';

export type FileRow = Selectable<Database['files']>;

const KEPT_MS = FILE_KEPT_HOURS * 60 * 60_000;
/** Bytes that are sealed and stored at a time. */
const PART_BYTES = 256 * 1024;

/** Stores files in sealed parts: neither a dump of the database nor the memory of the server shows them whole. */
export interface FileRepository {
  /**
   * Writes a file down as it comes in, in memory that does not depend on its size. When the content throws, nothing
   * of the file is left.
   */
  store(owner: Owner, mediaType: string, content: AsyncIterable<Buffer>): Promise<FileRow>;
  /** A complete file that this owner sees, and whose time is not over. */
  find(fileId: string, owner: Owner): Promise<FileRow | undefined>;
  /** The content of a file, opened. */
  read(file: FileRow): Promise<Buffer>;
  delete(fileId: string, owner: Owner): Promise<boolean>;
  /** Bytes that a wallet has stored, or is storing. */
  storedBytes(wallet: string): Promise<number>;
}

const partContext = (fileId: string, position: number) => `file:${fileId}:${position}`;

/** Where files are sealed. */
export const SEALED_FILES: SealedPlace = {
  name: 'files',
  table: 'file_parts',
  id: ['file_id', 'position'],
  column: 'sealed',
  contextOf: ([fileId, position]) => partContext(String(fileId), Number(position)),
};

export function createFileRepository(db: Db, keys: Keys): FileRepository {
  return {
    async store({ wallet, apiKeyId }, mediaType, content) {
      const id = randomUUID();
      const expiresAt = new Date(Date.now() + KEPT_MS);
      await db
        .insertInto('files')
        .values({ id, wallet, api_key_id: apiKeyId ?? null, media_type: mediaType, expires_at: expiresAt })
        .execute();
      try {
        let position = 0;
        for await (const part of partsOf(content)) {
          const sealed = keys.seal(part, partContext(id, position));
          await db.insertInto('file_parts').values({ file_id: id, position, sealed }).execute();
          // Counted as it comes, so that many uploads at once cannot pass the wallet's limit together.
          await db
            .updateTable('files')
            .set({ size_bytes: sql`size_bytes + ${part.length}` })
            .where('id', '=', id)
            .execute();
          position += 1;
        }
        return await db
          .updateTable('files')
          .set({ is_complete: true })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow();
      } catch (error) {
        await db.deleteFrom('files').where('id', '=', id).execute();
        throw error;
      }
    },
    find: (fileId, owner) => {
      const [column, value] = seenBy(owner);
      return db
        .selectFrom('files')
        .selectAll()
        .where('id', '=', fileId)
        .where(column, '=', value)
        .where('is_complete', '=', true)
        .where('expires_at', '>', sql<Date>`now()`)
        .executeTakeFirst();
    },
    async read(file) {
      const parts = await db
        .selectFrom('file_parts')
        .select(['position', 'sealed'])
        .where('file_id', '=', file.id)
        .orderBy('position')
        .execute();
      return Buffer.concat(
        parts.map(({ position, sealed }) => keys.open(sealed, partContext(file.id, position))),
      );
    },
    async delete(fileId, owner) {
      const [column, value] = seenBy(owner);
      const deleted = await db
        .deleteFrom('files')
        .where('id', '=', fileId)
        .where(column, '=', value)
        .where('is_complete', '=', true)
        .executeTakeFirst();
      return deleted.numDeletedRows === 1n;
    },
    async storedBytes(wallet) {
      const { bytes } = await db
        .selectFrom('files')
        .select((eb) => eb.fn.sum<bigint | null>('size_bytes').as('bytes'))
        .where('wallet', '=', wallet)
        .where('expires_at', '>', sql<Date>`now()`)
        .executeTakeFirstOrThrow();
      return Number(bytes ?? 0);
    },
  };
}

/** Cuts a content into parts of one size; the last one is shorter. */
async function* partsOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    held.push(chunk);
    size += chunk.length;
    if (size < PART_BYTES) continue;
    const whole = Buffer.concat(held);
    let start = 0;
    for (; whole.length - start >= PART_BYTES; start += PART_BYTES) {
      yield whole.subarray(start, start + PART_BYTES);
    }
    held = [whole.subarray(start)];
    size = whole.length - start;
  }
  if (size > 0) yield Buffer.concat(held);
}
