import type { Db } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import { openPrivatePart, sealPrivatePart, withoutEndedSecret } from '../manifest/private-part.js';
import { runnableVersions, setPrivatePart } from './runnable-versions.js';

/** Name of the background task that removes a replaced webhook secret once it signs no more calls. */
export const REPLACED_SECRETS_TASK = 'end_replaced_secrets';

/**
 * The background task: removes an expired webhook secret from all versions of a listing.
 *
 * @throws Error before the secret expires, so that the queue tries again: the clocks of database and process may
 * differ.
 */
export async function endReplacedSecrets(db: Db, keys: Keys, listingId: string): Promise<void> {
  const early = await db.transaction().execute(async (tx) => {
    // Locked, so that an update made from this version is made again.
    await tx.selectFrom('listings').select('id').where('id', '=', listingId).forUpdate().execute();
    let waiting = false;
    for (const version of await runnableVersions(tx, listingId)) {
      const part = openPrivatePart(keys, version.id, version.private_part);
      const left = withoutEndedSecret(part, Date.now());
      if (left !== part) await setPrivatePart(tx, version.id, sealPrivatePart(keys, version.id, left));
      else waiting ||= part.mode === 'connected' && part.previousWebhookSecret !== undefined;
    }
    return waiting;
  });
  if (early) throw new Error(`The replaced webhook secret of listing ${listingId} still signs calls.`);
}
