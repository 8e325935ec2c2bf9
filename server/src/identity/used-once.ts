import { hash } from 'node:crypto';
import type { Db } from '../database/connection.js';

/** How long a use is kept after its end, for replicas whose clocks are behind. */
const KEPT_MS = 60_000;

/** Remembers what counts once, on all replicas, until it would have ended by itself. */
export interface UsedOnce {
  /** Uses up a text. @returns false for one that was used before */
  use(text: string, endsAt: Date): Promise<boolean>;
}

/** Makes the memory. It keeps hashes, and removes the ended ones. */
export function createUsedOnce(db: Db): UsedOnce {
  return {
    async use(text, endsAt) {
      const first = await db
        .insertInto('used_challenges')
        .values({ digest: hash('sha256', text, 'buffer'), expires_at: endsAt })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (first.numInsertedOrUpdatedRows !== 1n) return false;
      const forgotten = new Date(Date.now() - KEPT_MS);
      await db.deleteFrom('used_challenges').where('expires_at', '<', forgotten).execute();
      return true;
    },
  };
}
