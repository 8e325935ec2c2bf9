import { ownerOf } from '../access/owner.js';
import { operations, type PublicVersion } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../http/operation-route.js';
import type { Creators } from './creators.js';
import type { Reviews } from './reviews/reviews.js';
import type { ListingService } from './service.js';
import type { Pins } from './versions/pins.js';

export interface ListingRouteDeps {
  listings: ListingService;
  reviews: Reviews;
  creators: Creators;
  pins: Pick<Pins, 'find'>;
  versionsOf(listingId: string): Promise<PublicVersion[]>;
}

/** Routes of search and detail, of reviews, and of creators' names. */
export function listingRoutes(
  app: FastifyInstance,
  { listings, reviews, creators, pins, versionsOf }: ListingRouteDeps,
): void {
  // A search result has exactly the fields of the specification. Only pages show these two.
  addOperation(app, operations.searchListings, async ({ query }) => {
    const found = await listings.search(query);
    const toldOf = (listing: (typeof found.listings)[number]) => {
      const { median_ms: _, icon_path: __, ...told } = listing;
      return told;
    };
    return { ...found, listings: found.listings.map(toldOf) };
  });
  addOperation(app, operations.getListing, async ({ principal, params, query }) => {
    // A caller that has pinned a version sees that version.
    const version = query.version ?? (await pins.find(ownerOf(principal), params.id));
    const { median_ms: _, ...listing } = await listings.detail(params.id, version);
    return listing;
  });
  addOperation(app, operations.listVersions, async ({ params }) => {
    // Only a listing that was published has versions for everyone.
    const { id } = await listings.detail(params.id);
    return { versions: await versionsOf(id) };
  });
  addOperation(app, operations.createReview, async ({ principal, params, body }) =>
    reviews.put(params.id, principal.wallet, body),
  );
  addOperation(app, operations.listReviews, async ({ params, query }) => reviews.list(params.id, query));
  addOperation(app, operations.answerReview, async ({ principal, params, body }) =>
    reviews.answer(principal.wallet, params.id, params.reviewer, body.text),
  );
  addOperation(app, operations.deleteReviewAnswer, async ({ principal, params }) =>
    reviews.answer(principal.wallet, params.id, params.reviewer, null),
  );
  addOperation(app, operations.updateCreator, async ({ principal, body }) =>
    creators.update(principal.wallet, body),
  );
}
