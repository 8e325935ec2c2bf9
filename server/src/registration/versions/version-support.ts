import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

/** Days for which a version that was replaced can run at least. */
export const VERSION_SUPPORT_DAYS = 30;

/**
 * The background task: removes the private parts of versions that were replaced over {@link VERSION_SUPPORT_DAYS}
 * days ago and have no valid rental. They cannot run any more; their public parts stay.
 */
export async function endVersionSupport(db: Db): Promise<number> {
  const ended = await sql`
    update agent_versions as version set private_part = null from listings
    where listings.id = version.listing_id and listings.status <> 'draft'
      and version.id <> listings.version_id and version.id is distinct from listings.approved_version_id
      and version.private_part is not null and version.replaced_at is not null
      and version.replaced_at < now() - make_interval(days => ${VERSION_SUPPORT_DAYS})
      and not exists (
        select from credentials
        where credentials.listing_address = listings.address and credentials.valid
          and (credentials.expires_at is null or credentials.expires_at > now())
          and credentials.purchased_at < version.replaced_at)`.execute(db);
  return Number(ended.numAffectedRows ?? 0n);
}
