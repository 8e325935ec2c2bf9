import type { Db } from '../database/connection.js';
import type { Keys } from '../platform/keys.js';
import type { Logger } from '../platform/logger.js';
import { startRounds } from '../platform/rounds.js';
import { StartError } from '../platform/start-error.js';
import { firstKey } from './first-keys.js';
import { serviceKeyContext } from './key-material.js';
import { createKeyRing, type KeyRing } from './key-ring.js';
import { KEY_PURPOSE_NAMES } from './purposes.js';
import { readKeys, UnopenedKeyError } from './read-keys.js';

/** How soon a replica knows of a rotation; the shortest lead of a new key is three times as long. */
export const KEYS_READ_EVERY_MS = 5_000;
/** Strangers may name keys that do not exist as often as they like. */
const REFRESHED_AT_MOST_EVERY_MS = 1_000;

/** A ring that follows the database until it is closed. */
interface OpenKeyRing extends KeyRing {
  close(): Promise<void>;
}

/**
 * Opens the service's keys, and follows their rotations. The first start derives keys from the master key and stores
 * them.
 *
 * @throws StartError where the keys of the environment do not open them.
 */
export async function openKeyRing(
  db: Db,
  keys: Keys,
  logger: Logger,
  readEveryMs = KEYS_READ_EVERY_MS,
): Promise<OpenKeyRing> {
  await storeFirstKeys(db, keys);
  const opened = new Map<string, Buffer>();
  let current = await readKeys(db, keys, opened).catch((cause: unknown) => {
    if (!(cause instanceof UnopenedKeyError)) throw cause;
    throw new StartError(
      "The service's own keys in the database were sealed with another key than MASTER_KEY, SEALING_KEY or one of " +
        'OTHER_SEALING_KEYS. Add that key to OTHER_SEALING_KEYS; the operator’s command reseal then seals them with yours.',
    );
  });
  let reading: Promise<void> | undefined;
  const read = async () => {
    try {
      current = await readKeys(db, keys, opened);
    } catch (err) {
      logger.warn({ err }, 'the keys of the service could not be read; the known ones stay in use');
    }
  };
  const readOnce = () => (reading ??= read().finally(() => (reading = undefined)));
  const rounds = startRounds(readOnce, readEveryMs, { startsAtOnce: false });
  let refreshing: Promise<void> | undefined;
  let refreshedAtMs = -Infinity;
  // A read that is under way may be older than the key.
  const refresh = async () => {
    await reading;
    await readOnce();
  };
  const ring = createKeyRing(
    () => current,
    async () => {
      if (performance.now() - refreshedAtMs >= REFRESHED_AT_MOST_EVERY_MS) {
        refreshedAtMs = performance.now();
        refreshing = refresh();
      }
      await refreshing;
    },
  );
  return { ...ring, close: () => rounds.stop() };
}

async function storeFirstKeys(db: Db, keys: Keys): Promise<void> {
  const rows = KEY_PURPOSE_NAMES.map((purpose) => {
    const { kid, secret, publicKey } = firstKey(keys, purpose);
    const sealed = keys.seal(secret, serviceKeyContext(purpose, 1));
    return { purpose, number: 1, kid, sealed, public_key: publicKey };
  });
  await db
    .insertInto('service_keys')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
