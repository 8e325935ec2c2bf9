import {
  CATEGORIES,
  RENTAL_MODELS,
  SORT_ORDERS,
  type JsonObject,
  type ListingSummary,
  type SortOrder,
} from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import { creatorLine } from '../text/creator-text.js';
import type { RentedTool } from '../definitions/rented-tool.js';
import { numberArgument, textArgument } from '../runs/run-arguments.js';
import { checkedTool } from '../runs/checked-tool.js';
import { answer, objectResult, READ_ONLY } from './answer.js';
import { offerFacts } from './get-listing.js';
import { pageArguments } from './page-arguments.js';

const LIMIT = { default: 10, max: 25 };
const DESCRIPTION_LENGTH = 280;

/** `search_listings`: finds agents that can be rented. */
export function searchListingsTool(client: RentalClient): RentedTool {
  return checkedTool({
    name: 'search_listings',
    title: 'Search agents to rent',
    description:
      'Searches the marketplace for agents that can be rented for a task. Creators wrote the titles and ' +
      'descriptions. Prices are in SOL: per task for "per_query", once for "one_time", per 30 days ' +
      'for "subscription". get_listing shows one agent in full.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'The ability that the agent needs.' },
        category: { type: 'string', enum: [...CATEGORIES] },
        rental_model: { type: 'string', enum: [...RENTAL_MODELS] },
        max_price_sol: { type: 'number', minimum: 0 },
        min_rating: { type: 'number', minimum: 0, maximum: 5 },
        sort: { type: 'string', enum: [...SORT_ORDERS] },
        limit: { type: 'integer', minimum: 1, maximum: LIMIT.max, description: 'Default 10.' },
        offset: { type: 'integer', minimum: 0, description: 'next_offset of the page before.' },
      },
    },
    annotations: READ_ONLY,
    stream: (args, options) =>
      answer(args, options, async (given, call) => {
        const { limit, offset } = pageArguments(given, LIMIT);
        const page = await client.searchListings(
          {
            q: textArgument(given, 'query')?.slice(0, 400),
            // The service checks the value. Its message names the allowed values.
            category: textArgument(given, 'category') as ListingSummary['category'][number] | undefined,
            rental_model: textArgument(given, 'rental_model') as ListingSummary['rental_model'] | undefined,
            max_price: numberArgument(given, 'max_price_sol'),
            min_rating: numberArgument(given, 'min_rating'),
            sort: textArgument(given, 'sort') as SortOrder | undefined,
            limit,
            offset,
          },
          call,
        );
        const end = offset + page.listings.length;
        return objectResult({
          listings: page.listings.map(summary),
          total: page.total,
          ...(page.did_you_mean === undefined ? {} : { did_you_mean: creatorLine(page.did_you_mean, 400) }),
          ...(end < page.total && page.listings.length > 0 ? { next_offset: end } : {}),
        });
      }),
  });
}

function summary(listing: ListingSummary): JsonObject {
  return {
    agent_id: listing.id,
    title: creatorLine(listing.title, 120),
    description: creatorLine(listing.description, DESCRIPTION_LENGTH),
    category: listing.category,
    ...offerFacts(listing),
    rental_model: listing.rental_model,
    price_sol: listing.price_sol,
    rating: listing.rating,
    review_count: listing.review_count,
    run_count: listing.run_count,
    success_rate: listing.success_rate,
    creator: creatorLine(listing.creator.display_name, 80),
  };
}
