import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Keys } from '../platform/keys.js';
import { serviceKeyContext } from './key-material.js';
import type { KeysOfPurpose, PublishedKey, TimedKey } from './key-ring.js';
import { KEY_PURPOSE_NAMES, type KeyPurposeName } from './purposes.js';

/** A key was sealed by none of the keys that are given. */
export class UnopenedKeyError extends Error {}

/** A key as it is stored; times are Unix milliseconds of the database's clock. */
type StoredKey = Awaited<ReturnType<typeof readRows>>[number];

/** Keys that were opened before, by purpose and number: a row never changes its key. */
type OpenSecrets = Map<string, Buffer>;

async function readRows(db: Db) {
  return db
    .selectFrom('service_keys')
    .selectAll()
    .select(sql<Date>`clock_timestamp()`.as('now'))
    .orderBy('purpose')
    .orderBy('number')
    .execute();
}

/**
 * Reads all keys. Converts their times to this process's monotonic clock, so that replicas with different clocks
 * change over together.
 *
 * @throws UnopenedKeyError
 */
export async function readKeys(
  db: Db,
  keys: Keys,
  opened: OpenSecrets = new Map(),
): Promise<Map<KeyPurposeName, KeysOfPurpose>> {
  const asked = performance.now();
  const rows = await readRows(db);
  return new Map(
    KEY_PURPOSE_NAMES.map((purpose) => {
      const own = rows.filter((row) => row.purpose === purpose);
      return [purpose, { open: openKeys(own, keys, opened, asked), published: publishedOf(own) }];
    }),
  );
}

function openKeys(rows: StoredKey[], keys: Keys, opened: OpenSecrets, asked: number): TimedKey[] {
  return rows.flatMap(({ purpose, number, kid, sealed, signs_from, accepted_until, now }) => {
    if (sealed === null) return [];
    const context = serviceKeyContext(purpose, number);
    const secret = opened.get(context) ?? openKey(keys, sealed, context);
    opened.set(context, secret);
    const at = (time: Date) => asked + time.getTime() - now.getTime();
    return [
      {
        kid,
        number,
        secret,
        signsAtMs: at(signs_from),
        endsAtMs: accepted_until === null ? Number.POSITIVE_INFINITY : at(accepted_until),
      },
    ];
  });
}

function openKey(keys: Keys, sealed: Buffer, context: string): Buffer {
  try {
    return keys.open(sealed, context);
  } catch (cause) {
    throw new UnopenedKeyError(`${context} was sealed by none of the keys.`, { cause });
  }
}

function publishedOf(rows: StoredKey[]): PublishedKey[] {
  return rows.flatMap(({ kid, number, public_key, signs_from, accepted_until, revoked_at }) =>
    public_key === null
      ? []
      : [
          {
            kid,
            publicKey: public_key,
            signsFrom: number === 1 ? undefined : signs_from,
            signsUntil: accepted_until ?? undefined,
            revokedAt: revoked_at ?? undefined,
          },
        ],
  );
}
