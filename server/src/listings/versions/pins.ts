import type { Owner } from '../../access/owner.js';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';

/** SQL: the pin of an API key wins over its wallet's pin, whose key is the empty text. */
export const PIN = (listing: string) => `(select version from version_pins
  where wallet = $1 and listing_id = ${listing} and api_key_id in ('', $2) order by api_key_id desc limit 1)`;

/** The same for a query of `listings`. Its parameters, empty here, are the wallet and the API key. */
export const pinnedVersion = sql<number | null>`(select version from version_pins
  where wallet = ${''} and listing_id = listings.id and api_key_id in ('', ${''})
  order by api_key_id desc limit 1)`;

/** The value of `$2` in {@link PIN}. */
export const keyOf = ({ apiKeyId }: Pick<Owner, 'apiKeyId'>): string => apiKeyId ?? '';

const FIND = prepare(`select ${PIN('$3')} as version`);
const EXISTS = prepare(
  // Ordered as the primary key: without it the planner reads the whole table for a wallet with many pins.
  `select (select true from version_pins where wallet = $1 and api_key_id in ('', $2)
    order by listing_id limit 1) is not null as found`,
);

/** Stores which versions callers have pinned. */
export interface Pins {
  /** The version that runs for this caller, where it is pinned. */
  find(owner: Owner, listingId: string): Promise<number | undefined>;
  /** Whether any listing is pinned for this caller. */
  hasAny(owner: Owner): Promise<boolean>;
  /** Pins a version for the wallet, or where it came with one for the API key alone; null takes that pin away. */
  set(owner: Owner, listingId: string, version: number | null): Promise<void>;
}

export function createPins(db: Db): Pins {
  return {
    async find(owner, listingId) {
      const query = CompiledQuery.raw(FIND, [owner.wallet, keyOf(owner), listingId]);
      const { rows } = await db.executeQuery<{ version: number | null }>(query);
      return rows[0]?.version ?? undefined;
    },
    async hasAny(owner) {
      const query = CompiledQuery.raw(EXISTS, [owner.wallet, keyOf(owner)]);
      return (await db.executeQuery<{ found: boolean }>(query)).rows[0]?.found === true;
    },
    async set(owner, listingId, version) {
      const pin = { wallet: owner.wallet, listing_id: listingId, api_key_id: keyOf(owner) };
      if (version === null) {
        await db
          .deleteFrom('version_pins')
          .where('wallet', '=', pin.wallet)
          .where('listing_id', '=', listingId)
          .where('api_key_id', '=', pin.api_key_id)
          .execute();
        return;
      }
      await db
        .insertInto('version_pins')
        .values({ ...pin, version })
        .onConflict((conflict) =>
          conflict.columns(['wallet', 'listing_id', 'api_key_id']).doUpdateSet({ version }),
        )
        .execute();
    },
  };
}
