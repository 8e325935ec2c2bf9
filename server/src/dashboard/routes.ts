import type { FastifyInstance } from 'fastify';
import { RENT_PAGE_PATH } from '@agent-rental/contract';
import type { ListingService, PublishedListing } from '../listings/index.js';
import { ApiError } from '../http/api-error.js';
import { rentPage } from './rent-page.js';

/** Nothing is loaded, run, framed or sent from here: a listing's words are its creator's. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** @throws ApiError for a listing that takes no rentals now. */
function requireForSale(status: PublishedListing['status']): void {
  switch (status) {
    case 'active':
      return;
    case 'paused':
      throw new ApiError('listing_paused', 'The agent is paused: it cannot be rented now.');
    case 'closed':
      throw new ApiError('listing_not_found', 'The agent is closed: it cannot be rented any more.');
    default:
      return status satisfies never;
  }
}

/** The page where `rent_url` leads a person. */
export function dashboardRoutes(
  app: FastifyInstance,
  { listings, baseUrl }: { listings: Pick<ListingService, 'find'>; baseUrl: () => string },
): void {
  app.get<{ Params: { listing_id: string }; Querystring: Record<string, unknown> }>(
    RENT_PAGE_PATH,
    { config: { auth: 'none' } },
    async ({ params, query }, reply) => {
      const listing = await listings.find(params.listing_id);
      requireForSale(listing.status);
      const offered = query['max_total_lamports'];
      const maxTotalLamports =
        typeof offered === 'string' && /^\d{1,18}$/.test(offered) ? BigInt(offered) : undefined;
      return reply.headers(HEADERS).send(rentPage({ listing, baseUrl: baseUrl(), maxTotalLamports }));
    },
  );
}
