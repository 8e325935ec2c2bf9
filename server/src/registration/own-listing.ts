import { ApiError } from '../errors/api-error.js';
import { parseListingId } from '../listings/index.js';
import type { OwnListing, RegistrationRepository } from './repository.js';

/** The same answer for a listing of another creator and for one that does not exist. */
export function notYours(): ApiError {
  return new ApiError('listing_not_found', 'You have no such listing.', {
    next: 'Register an agent with POST /v1/agents.',
  });
}

/**
 * A listing of that creator that can still be changed: a draft, or on sale, or paused.
 *
 * @throws ApiError `invalid_listing_id`, or `listing_not_found` when it is another's or closed.
 */
export async function findOwnListing(
  repository: RegistrationRepository,
  creator: string,
  listingId: string,
): Promise<OwnListing> {
  const own = await repository.findOwn(parseListingId(listingId), creator);
  if (!own) throw notYours();
  if (own.listing.status === 'closed') {
    throw new ApiError('listing_not_found', 'The listing is closed, for ever.');
  }
  return own;
}
