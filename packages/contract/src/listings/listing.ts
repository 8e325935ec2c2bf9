import * as z from 'zod';
import {
  category,
  freeTrial,
  jsonObject,
  lamports,
  listingId,
  listingStatus,
  page,
  queryNumber,
  rentalModel,
  timestamp,
  walletAddress,
} from '../primitives.js';

/** Longest description that search results show; the detail shows all of it. */
export const SEARCH_DESCRIPTION_LIMIT = 280;

/** Who publishes a listing; `listing_count` counts the active ones. */
export const creator = z
  .object({ id: walletAddress, display_name: z.string(), listing_count: z.int() })
  .meta({ id: 'Creator' });
export type Creator = z.infer<typeof creator>;

/** Body of `PATCH /v1/creators/me`. Null goes back to the shortened wallet. */
export const updateCreatorBody = z
  .strictObject({ display_name: z.string().min(1).max(50).nullable() })
  .meta({ id: 'UpdateCreator' });

/** A listing as search returns it. */
export const listingSummary = z
  .object({
    id: listingId,
    title: z.string(),
    description: z.string(),
    category: z.array(category),
    rental_model: rentalModel,
    price_sol: z.number(),
    run_count: z.int(),
    success_rate: z.number().min(0).max(1),
    creator,
    rating: z.number().min(0).max(5),
    review_count: z.int(),
    last_updated: timestamp,
    sample_output: z.array(z.string()),
    /** The nightly runs of the agent have failed since this time. Absent before three days of failures. */
    failing_since: timestamp.optional(),
    /**
     * True: a wallet without a rental may run the agent once, free of charge. `renters`: only one that has rented an agent of
     * another creator.
     */
    free_trial: freeTrial.optional(),
    /**
     * Median duration of the runs with a result in the last 30 days, to within 5%. It is at most an hour old while the agent
     * runs. Absent before the first completed run.
     */
    median_ms: z.int().min(0).optional(),
    /** Path of the creator's picture at this service. Absent in search, and without a picture: clients make one from the id. */
    icon_path: z.string().optional(),
  })
  .meta({ id: 'ListingSummary' });
export type ListingSummary = z.infer<typeof listingSummary>;

/** A listing as the detail endpoint returns it. */
export const listing = listingSummary
  .extend({
    published_at: timestamp,
    status: listingStatus,
    /** Reason of the operator who suspended the listing. */
    suspension_reason: z.string().optional(),
    on_chain_address: z.string(),
    metadata_uri: z.string(),
    /** The price again, in lamports: for a subscription, per 30 days. */
    price_lamports: lamports,
    /** Smallest first deposit of a Per-Task rental; 0 for the other models. */
    min_deposit_lamports: lamports,
    input_schema: jsonObject,
    output_schema: jsonObject,
    /** Markdown that the creator wrote for people. Absent without one. */
    readme: z.string().optional(),
    /** Number of the shown version, from 1. Absent from servers that do not number versions. */
    version: z.int().min(1).optional(),
    /**
     * Time at which the creator published an agent that the service could not reach. Absent once a run or a probe has reached
     * the agent.
     */
    unverified_since: timestamp.optional(),
  })
  .meta({ id: 'Listing' });
export type Listing = z.infer<typeof listing>;

/** Query of `GET /v1/listings/:id`. */
export const getListingQuery = z.strictObject({
  /** Shows description, category and schemas of this version; absent: of the latest. */
  version: queryNumber(z.int().min(1).max(1_000_000)).optional(),
});

/** The orders of a search; the one list of them. */
export const SORT_ORDERS = ['relevance', 'rating', 'price_asc', 'price_desc', 'newest'] as const;

/** The order of a search. */
export const sortOrder = z.enum(SORT_ORDERS);
export type SortOrder = z.infer<typeof sortOrder>;

/** Query of `GET /v1/listings`. */
export const searchListingsQuery = z.strictObject({
  q: z.string().max(400).optional(),
  category: category.optional(),
  rental_model: rentalModel.optional(),
  min_price: queryNumber(z.number().min(0).max(1_000_000)).optional(),
  max_price: queryNumber(z.number().min(0).max(1_000_000)).optional(),
  min_rating: queryNumber(z.number().min(0).max(5)).optional(),
  sort: sortOrder
    .default('relevance')
    .describe(
      'rating: by the average with five further ratings of 3, so that one review does not outweigh many. It counts ' +
        'reviews of wallets that also rent from another creator.',
    ),
  ...page,
});

/** Answer of `GET /v1/listings`. `total` is exact. */
export const searchListingsResponse = z
  .object({
    listings: z.array(listingSummary),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    /** Where nothing was found: the same words, misspelled ones replaced by ones that find something. */
    did_you_mean: z.string().optional(),
  })
  .meta({ id: 'ListingPage' });
export type ListingPage = z.infer<typeof searchListingsResponse>;
