import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../platform/operation-route.js';
import type { ListingService } from './service.js';

/** Routes of search and detail. */
export function listingRoutes(app: FastifyInstance, listings: ListingService): void {
  addOperation(app, operations.searchListings, async ({ query }) => listings.search(query));
  addOperation(app, operations.getListing, async ({ params }) => listings.detail(params.id));
}
