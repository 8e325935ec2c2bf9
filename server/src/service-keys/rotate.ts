import { sql, type Transaction } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';
import type { Keys } from '../platform/keys.js';
import { keyMaterial, serviceKeyContext } from './key-material.js';
import { KEY_PURPOSES, type KeyPurposeName } from './purposes.js';

/** How a key is rotated. */
interface Rotation {
  /** The key has leaked: its signatures count no more. */
  readonly atOnce: boolean;
  /** How long all replicas know the new key before it signs. Default: the lead of the purpose. */
  readonly leadSeconds?: number | undefined;
}

/** The result of a rotation, or the reason why it did nothing. */
export type Rotated =
  | { outcome: 'rotated'; kid: string; signsFrom: Date; previousUntil: Date | null }
  /** No server has started on this database since it has keys. */
  | { outcome: 'no_keys' }
  /** The last key still waits for its time to sign. */
  | { outcome: 'waits'; signsFrom: Date }
  /**
   * The servers' keys are sealed by another key than the environment's: the servers may be unable to open a new key.
   */
  | { outcome: 'other_sealing_key' };

/**
 * Makes the next key of a purpose, sealed by the present sealing key. Every replica knows it within seconds, and all
 * sign with it from the same moment. Signatures of the former keys count until their normal end.
 */
export function rotateKey(
  db: Db,
  keys: Keys,
  purpose: KeyPurposeName,
  { atOnce, leadSeconds = KEY_PURPOSES[purpose].leadSeconds }: Rotation,
): Promise<Rotated> {
  const { acceptedSeconds } = KEY_PURPOSES[purpose];
  return db.transaction().execute(async (tx) => {
    const newest = await findNewest(tx, purpose);
    if (newest === undefined) return { outcome: 'no_keys' };
    const { number: previous, sealed, signs_from: signsFrom, waits } = newest;
    // Replicas that cannot open the new key would have none once the former one ends.
    if (sealed === null || !keys.isSealedByPresent(sealed, serviceKeyContext(purpose, previous)))
      return { outcome: 'other_sealing_key' };
    if (waits && !atOnce) return { outcome: 'waits', signsFrom };
    const number = previous + 1;
    const { kid, secret, publicKey } = keyMaterial(purpose);
    const lead = atOnce ? 0 : leadSeconds;
    const made = await tx
      .insertInto('service_keys')
      .values({
        purpose,
        number,
        kid,
        sealed: keys.seal(secret, serviceKeyContext(purpose, number)),
        public_key: publicKey,
        signs_from: sql<Date>`now() + make_interval(secs => ${lead})`,
      })
      .returning('signs_from')
      .executeTakeFirstOrThrow();
    const previousUntil = atOnce
      ? await revokeBefore(tx, purpose, number)
      : await endBefore(tx, purpose, number, acceptedSeconds === null ? null : lead + acceptedSeconds);
    return { outcome: 'rotated', kid, signsFrom: made.signs_from, previousUntil };
  });
}

/** The newest key, locked: two rotations of a purpose follow each other. */
function findNewest(tx: Transaction<Database>, purpose: KeyPurposeName) {
  return tx
    .selectFrom('service_keys')
    .select(['number', 'sealed', 'signs_from', sql<boolean>`signs_from > now()`.as('waits')])
    .where('purpose', '=', purpose)
    .orderBy('number', 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
}

/** Ends the former keys at once. Keys that had ended without a leak do not change. */
async function revokeBefore(tx: Transaction<Database>, purpose: KeyPurposeName, number: number) {
  await tx
    .updateTable('service_keys')
    .set({ accepted_until: sql<Date>`now()`, revoked_at: sql<Date>`now()` })
    .where('purpose', '=', purpose)
    .where('number', '<', number)
    .where((where) =>
      where.or([where('accepted_until', 'is', null), where('accepted_until', '>', sql<Date>`now()`)]),
    )
    .execute();
  return null;
}

async function endBefore(
  tx: Transaction<Database>,
  purpose: KeyPurposeName,
  number: number,
  seconds: number | null,
): Promise<Date | null> {
  if (seconds === null) return null;
  const ended = await tx
    .updateTable('service_keys')
    .set({ accepted_until: sql<Date>`now() + make_interval(secs => ${seconds})` })
    .where('purpose', '=', purpose)
    .where('number', '<', number)
    .where('accepted_until', 'is', null)
    .returning('accepted_until')
    .executeTakeFirst();
  return ended?.accepted_until ?? null;
}

/** Forgets keys that have ended; their public parts stay. */
export async function removeEndedKeys(db: Db): Promise<void> {
  await db
    .updateTable('service_keys')
    .set({ sealed: null })
    .where('sealed', 'is not', null)
    .where('accepted_until', '<', sql<Date>`now() - interval '1 hour'`)
    .execute();
}
