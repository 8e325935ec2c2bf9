import type { Db } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import { StartError } from '../../platform/start-error.js';
import { privatePartContext } from '../../registration/index.js';

/**
 * Checks that the database was written with this master key. A database that has no check value yet gets this key's, unless
 * an agent in it was sealed with another one.
 *
 * @throws StartError
 */
export async function requireMasterKey(db: Db, keys: Keys): Promise<void> {
  const isNew = (await db.selectFrom('key_checks').select('name').limit(1).executeTakeFirst()) === undefined;
  if (isNew && !(await opensAnAgent(db, keys))) throw wrongKey();
  await db
    .insertInto('key_checks')
    .values({ name: 'master', value: keys.check })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  // Two, while the master key is rotated.
  const kept = await db.selectFrom('key_checks').select('value').execute();
  if (!kept.some(({ value }) => value.equals(keys.check))) throw wrongKey();
}

/** Whether the keys open the newest agent's sealed part; true without an agent. */
async function opensAnAgent(db: Db, keys: Keys): Promise<boolean> {
  const newest = await db
    .selectFrom('agent_versions')
    .select(['id', 'private_part'])
    .where('private_part', 'is not', null)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!newest?.private_part) return true;
  try {
    keys.open(newest.private_part, privatePartContext(newest.id));
    return true;
  } catch {
    return false;
  }
}

function wrongKey(): StartError {
  return new StartError(
    'MASTER_KEY is not the key that this database was written with: agents, results and sessions in it could not be ' +
      'opened. Set the key that was used before, or name another database in DATABASE_URL.',
  );
}
