import type { Db } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import { privatePartContext } from '../manifest/private-part.js';

/** Versions that are read at once. */
const BATCH = 100;

/**
 * Seals what is secret of all agents with the present key, where another one sealed it. May run beside servers, and again: what
 * changes meanwhile is left to the next round.
 *
 * @throws Error when a part was sealed by a key that is not given, naming its version.
 */
export async function resealAll(db: Db, keys: Keys): Promise<{ resealed: number; changedMeanwhile: number }> {
  const counts = { resealed: 0, changedMeanwhile: 0 };
  for (let after: string | undefined; ;) {
    let query = db
      .selectFrom('agent_versions')
      .select(['id', 'private_part'])
      .where('private_part', 'is not', null)
      .orderBy('id')
      .limit(BATCH);
    if (after !== undefined) query = query.where('id', '>', after);
    const versions = await query.execute();
    for (const { id, private_part: sealed } of versions) {
      const context = privatePartContext(id);
      if (sealed === null || keys.isSealedByPresent(sealed, context)) continue;
      const { numUpdatedRows } = await db
        .updateTable('agent_versions')
        .set({ private_part: keys.seal(opened(keys, id, sealed), context) })
        .where('id', '=', id)
        .where('private_part', '=', sealed)
        .executeTakeFirst();
      if (numUpdatedRows === 1n) counts.resealed += 1;
      else counts.changedMeanwhile += 1;
    }
    after = versions.at(-1)?.id;
    if (versions.length < BATCH) return counts;
  }
}

function opened(keys: Keys, id: string, sealed: Buffer): Buffer {
  try {
    return keys.open(sealed, privatePartContext(id));
  } catch (cause) {
    throw new Error(`Version ${id} was sealed by none of the keys: add its key to OTHER_SEALING_KEYS.`, {
      cause,
    });
  }
}
