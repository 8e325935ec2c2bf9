import type { PublicVersion } from '@agent-rental/contract';
import type { Db } from '../../database/connection.js';

/** Versions that are shown at most: the latest ones. */
const MOST_VERSIONS = 10;

/** Gives the latest versions that run or have run on sale of a published listing, the newest first. */
export function createPublicVersions(db: Db): (listingId: string) => Promise<PublicVersion[]> {
  return async (listingId) => {
    const rows = await db
      .selectFrom('agent_versions')
      .innerJoin('listings', 'listings.id', 'agent_versions.listing_id')
      .select(['number', 'agent_versions.created_at', 'change_kind', 'change_reasons', 'notes'])
      .where('agent_versions.listing_id', '=', listingId)
      .where('number', 'is not', null)
      // As everywhere: a version that neither runs nor was ever replaced was never approved.
      .where(({ eb, or, ref }) =>
        or([eb('agent_versions.id', '=', ref('listings.version_id')), eb('replaced_at', 'is not', null)]),
      )
      .orderBy('number', 'desc')
      .limit(MOST_VERSIONS)
      .execute();
    return rows.map(({ number, created_at, change_kind: kind, change_reasons: reasons, notes }) => ({
      version: number ?? 1,
      created_at: created_at.toISOString(),
      change: kind === null ? null : { kind, reasons: reasons ?? [] },
      ...(notes === null ? {} : { notes }),
    }));
  };
}
