import type { Owner } from '../../access/owner.js';
import type { Credential, RentedListing } from '@agent-rental/contract';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import { keyOf, PIN } from './pins.js';
import { versionChange } from './version-change.js';

/** A rental of a wallet. */
interface Rental {
  listingId: string;
  purchasedAt: Date;
}

/** News for a renter about the version that its runs use. */
interface RentedVersion {
  /** The pinned version, in the place of the latest. */
  pinned?: {
    version: number;
    listing: Partial<Pick<RentedListing, 'description'>> & Pick<RentedListing, 'input_schema'>;
  };
  /** The listing changed since the renter used it last, or rented it. */
  update?: NonNullable<Credential['update']>;
}

interface VersionsRow {
  id: string;
  latest: number;
  latest_id: string;
  pinned: number | null;
  pinned_id: string | null;
  used_id: string | null;
}

/**
 * Skips listings that have had one version only. A renter knows the version of its last run or, before its first run, the
 * version that ran when it rented.
 */
const VERSIONS =
  prepare(`select rented.id, current.number as latest, current.id as latest_id, pins.version as pinned,
    pinned.id as pinned_id,
    coalesce(
      (select version_id from runs where runs.wallet = $1 and runs.listing_id = rented.id
        order by created_at desc, runs.id desc limit 1),
      (select version.id from agent_versions version where version.listing_id = rented.id
        and (version.id = current.id or version.replaced_at > rented.purchased_at) order by number limit 1)
    ) as used_id
  from unnest($3::text[], $4::timestamptz[]) as rented (id, purchased_at)
  join listings on listings.id = rented.id
  join agent_versions current on current.id = listings.version_id
  left join lateral (select ${PIN('rented.id')} as version) pins on true
  left join agent_versions pinned on pinned.listing_id = rented.id and pinned.number = pins.version
  where current.number > 1`);

/** Reads the news of versions for renters; most rentals have none. */
export interface RentedVersions {
  /** By listing. */
  of(owner: Owner, rentals: readonly Rental[]): Promise<Map<string, RentedVersion>>;
}

export function createRentedVersions(db: Db): RentedVersions {
  return {
    async of(runner, rentals) {
      const found = new Map<string, RentedVersion>();
      if (rentals.length === 0) return found;
      const values = [
        runner.wallet,
        keyOf(runner),
        rentals.map(({ listingId }) => listingId),
        rentals.map(({ purchasedAt }) => purchasedAt.toISOString()),
      ];
      const { rows } = await db.executeQuery<VersionsRow>(CompiledQuery.raw(VERSIONS, values));
      const changed = rows.filter(
        ({ pinned, used_id: used, latest_id: latest }) => pinned !== null || used !== latest,
      );
      const wanted = changed.flatMap(({ pinned_id: pinned, used_id: used, latest_id: latest }) =>
        pinned === null ? [used, latest] : [pinned],
      );
      const versions = await readVersions(
        db,
        wanted.filter((id) => id !== null),
      );
      for (const row of changed) {
        const [pinned, used, latest] = [row.pinned_id, row.used_id, row.latest_id].map((id) =>
          id === null ? undefined : versions.get(id),
        );
        if (row.pinned !== null && pinned) {
          const { description, input_schema } = pinned;
          // A version of an older release has no description: the listing's is used.
          const own = description === null ? {} : { description };
          const listing = { ...own, input_schema } as RentedListing;
          found.set(row.id, { pinned: { version: row.pinned, listing } });
        } else if (used && latest) {
          const { kind } = versionChange(used, latest);
          found.set(row.id, { update: { version: row.latest, from_version: used.number, kind } });
        }
      }
      return found;
    },
  };
}

async function readVersions(db: Db, ids: string[]) {
  if (ids.length === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom('agent_versions')
    .select(['id', 'number', 'description', 'input_schema', 'output_schema'])
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
