import type { Db } from '../../database/connection.js';
import { ApiError } from '../../errors/api-error.js';
import { parseListingId } from '../../listings/index.js';

/**
 * The id of a listing, drafts included, that a creator asks about.
 *
 * @throws ApiError `invalid_listing_id`; `listing_not_found` for another creator's.
 */
export async function requireOwnListing(db: Db, creator: string, given: string): Promise<string> {
  const listingId = parseListingId(given);
  const own = await db
    .selectFrom('listings')
    .select('id')
    .where('id', '=', listingId)
    .where('creator', '=', creator)
    .executeTakeFirst();
  if (!own) throw new ApiError('listing_not_found', 'You have no such listing.');
  return listingId;
}
