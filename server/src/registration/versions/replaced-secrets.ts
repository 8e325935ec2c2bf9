import { EXPIRING_SECRET_HOURS } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db, Tx } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import type { enqueueTask } from '../../jobs/jobs.js';
import { openPrivatePart, sealPrivatePart, withoutEndedSecret } from '../manifest/private-part.js';
import { runnableVersions, setPrivatePart } from './runnable-versions.js';

/** Name of the background task that removes a replaced webhook secret once it signs no more calls. */
export const REPLACED_SECRETS_TASK = 'end_replaced_secrets';
/** Name of the background task that tells the creator of its end before. */
export const EXPIRING_SECRET_TASK = 'tell_expiring_secret';

/** Queues both tasks of a replaced secret. One of each for a listing: a secret that is replaced again meanwhile moves them. */
export async function queueSecretTasks(
  tx: Tx,
  enqueue: typeof enqueueTask,
  { listingId, until }: { listingId: string; until: Date },
): Promise<void> {
  const key = (task: string) => `${task}:${listingId}`;
  const toldAt = new Date(until.getTime() - EXPIRING_SECRET_HOURS * 3_600_000);
  const payload = { listing_id: listingId };
  await enqueue(
    tx,
    EXPIRING_SECRET_TASK,
    { ...payload, expires_at: until.toISOString() },
    {
      key: key(EXPIRING_SECRET_TASK),
      runAt: toldAt,
    },
  );
  await enqueue(tx, REPLACED_SECRETS_TASK, payload, { key: key(REPLACED_SECRETS_TASK), runAt: until });
}

/** The background task: tells the creator once that a replaced secret ends soon, while that secret still signs. */
export async function tellExpiringSecret(
  db: Db,
  keys: Keys,
  { listing_id: listingId, expires_at: expiresAt }: { listing_id: string; expires_at: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const listing = await tx
      .selectFrom('listings')
      .select('version_id')
      .where('id', '=', listingId)
      .forUpdate()
      .executeTakeFirst();
    const version = (await runnableVersions(tx, listingId)).find(({ id }) => id === listing?.version_id);
    if (!version) return;
    const part = openPrivatePart(keys, version.id, version.private_part);
    const until = part.mode === 'connected' ? part.previousWebhookSecret?.until : undefined;
    if (until !== Date.parse(expiresAt) || until <= Date.now()) return;
    await sql`select tell_expiring_secret(${listingId}, ${expiresAt})`.execute(tx);
  });
}

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
