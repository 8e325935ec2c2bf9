import type { Db } from '../../database/connection.js';
import { blockKey, requireBlockOf, type BlockStore } from './block-store.js';

/** Blocks in PostgreSQL, where every replica finds them. */
export function createDatabaseBlocks(db: Db): BlockStore {
  return {
    async get(cid) {
      const row = await db
        .selectFrom('content_blocks')
        .select('bytes')
        .where('cid', '=', blockKey(cid))
        .executeTakeFirst();
      return row && requireBlockOf(cid, row.bytes);
    },
    async put(cid, bytes) {
      await db
        .insertInto('content_blocks')
        .values({ cid: blockKey(cid), bytes: Buffer.from(bytes) })
        .onConflict((conflict) => conflict.column('cid').doNothing())
        .execute();
    },
    async remove(cid) {
      await db.deleteFrom('content_blocks').where('cid', '=', blockKey(cid)).execute();
    },
  };
}
