import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../http/operation-route.js';
import type { Creators } from './creators.js';
import type { Reviews } from './reviews/reviews.js';
import type { ListingService } from './service.js';

export interface ListingRouteDeps {
  listings: ListingService;
  reviews: Reviews;
  creators: Creators;
}

/** Routes of search and detail, of reviews, and of creators' names. */
export function listingRoutes(app: FastifyInstance, { listings, reviews, creators }: ListingRouteDeps): void {
  addOperation(app, operations.searchListings, async ({ query }) => listings.search(query));
  addOperation(app, operations.getListing, async ({ params }) => listings.detail(params.id));
  addOperation(app, operations.createReview, async ({ principal, params, body }) =>
    reviews.put(params.id, principal.wallet, body),
  );
  addOperation(app, operations.listReviews, async ({ params, query }) => reviews.list(params.id, query));
  addOperation(app, operations.updateCreator, async ({ principal, body }) =>
    creators.update(principal.wallet, body),
  );
}
