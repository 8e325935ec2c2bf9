import type { Db } from '../database/connection.js';
import { countSealedByOthers, type SealedPlace } from '../database/sealed-places.js';
import type { Keys } from '../platform/keys.js';

/** The result of a step to another master key. */
export type MasterKeyStep =
  | { outcome: 'done' }
  /** The environment has another master key than the step is for. */
  | { outcome: 'wrong_key' }
  /** No other key was proposed. */
  | { outcome: 'none_proposed' }
  /** So much would be lost with the key that ends. */
  | { outcome: 'still_sealed'; count: number };

const check = (db: Db, name: 'master' | 'next_master') =>
  db.selectFrom('key_checks').select('value').where('name', '=', name).executeTakeFirst();

/** Has servers accept another master key, too. @param keys of the present one */
export async function proposeMasterKey(db: Db, keys: Keys, next: Keys): Promise<MasterKeyStep> {
  const present = await check(db, 'master');
  if (!present?.value.equals(keys.check) || next.check.equals(keys.check)) return { outcome: 'wrong_key' };
  await db
    .insertInto('key_checks')
    .values({ name: 'next_master', value: next.check })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: next.check }))
    .execute();
  return { outcome: 'done' };
}

/** Has servers accept the proposed master key alone. @param keys of the proposed one */
export async function acceptMasterKey(
  db: Db,
  keys: Keys,
  places: readonly SealedPlace[],
): Promise<MasterKeyStep> {
  const proposed = await check(db, 'next_master');
  if (proposed === undefined) return { outcome: 'none_proposed' };
  if (!proposed.value.equals(keys.check)) return { outcome: 'wrong_key' };
  const count = await countSealedByOthers(db, keys, places);
  if (count > 0) return { outcome: 'still_sealed', count };
  await db.transaction().execute(async (tx) => {
    await tx.updateTable('key_checks').set({ value: keys.check }).where('name', '=', 'master').execute();
    await tx.deleteFrom('key_checks').where('name', '=', 'next_master').execute();
  });
  return { outcome: 'done' };
}

/** Has servers accept the master key that they had, and no other. @param keys of that one */
export async function cancelMasterKey(
  db: Db,
  keys: Keys,
  places: readonly SealedPlace[],
): Promise<MasterKeyStep> {
  if ((await check(db, 'next_master')) === undefined) return { outcome: 'none_proposed' };
  const present = await check(db, 'master');
  if (!present?.value.equals(keys.check)) return { outcome: 'wrong_key' };
  const count = await countSealedByOthers(db, keys, places);
  if (count > 0) return { outcome: 'still_sealed', count };
  await db.deleteFrom('key_checks').where('name', '=', 'next_master').execute();
  return { outcome: 'done' };
}
