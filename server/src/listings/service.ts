import {
  REFUSAL_TEXT,
  SEARCH_DESCRIPTION_LIMIT,
  solFromLamports,
  type Listing,
  type ListingPage,
  type ListingSummary,
  type RentedListing,
  type searchListingsQuery,
  type RentalModel,
} from '@agent-rental/contract';
import type { z } from 'zod';
import { ApiError } from '../http/api-error.js';
import { ELLIPSIS } from './clean-text.js';
import { toCreator } from './creators.js';
import { parseListingId } from './listing-id.js';
import type { ListingRow, ListingSummaryRow } from './listing-row.js';
import type { ListingRepository } from './repository.js';

/** A published listing with its running version, as the other slices use it. */
export interface PublishedListing {
  id: string;
  title: string;
  creator: string;
  address: string;
  rentalModel: RentalModel;
  priceLamports: bigint;
  minDepositLamports: bigint;
  /** Per credential: the operator's, else the creator's. */
  runsPerMinute: number | null;
  status: 'active' | 'paused' | 'closed';
  metadataUri: string;
  version: {
    id: string;
    inputSchema: Record<string, unknown>;
    outputSchema: Record<string, unknown>;
    timeoutSeconds: number;
    /** Sealed; the model gateway and the execution of connected agents open it. */
    privatePart: Buffer;
  };
}

export interface ListingService {
  search(query: z.output<typeof searchListingsQuery>): Promise<ListingPage>;
  /** @throws ApiError `invalid_listing_id` or `listing_not_found`. */
  detail(id: string): Promise<Listing>;
  /** @throws ApiError `invalid_listing_id` or `listing_not_found`. */
  find(id: string): Promise<PublishedListing>;
  /** Id of the published listing whose on-chain account has this address. */
  findIdByAddress(address: string): Promise<string | undefined>;
  /** By id, what published listings are called with. */
  describe(ids: string[]): Promise<Map<string, RentedListing>>;
}

const notFound = () => new ApiError('listing_not_found', REFUSAL_TEXT.noSuchListing);

export function createListingService(repository: ListingRepository): ListingService {
  const findRow = async (text: string): Promise<ListingRow> => {
    const row = await repository.findPublished(parseListingId(text));
    if (!row) throw notFound();
    return row;
  };
  const versionOf = async (row: ListingRow) => {
    const version = await repository.findVersion(row.version_id);
    if (!version) throw new Error(`Listing ${row.id} has no version ${row.version_id}.`);
    return version;
  };

  return {
    findIdByAddress: (address) => repository.findPublishedId(address),

    async describe(ids) {
      const rows = ids.length === 0 ? [] : await repository.findCalled(ids);
      return new Map(
        rows.map(({ id, description, price_lamports, input_schema }) => [
          id,
          {
            description,
            price_lamports: Number(price_lamports ?? 0n),
            input_schema: input_schema as Listing['input_schema'],
          },
        ]),
      );
    },

    async search(query) {
      const { rows, total, didYouMean } = await repository.search(query);
      const listings = rows.map((row) => {
        const summary = toSummary(row);
        return { ...summary, description: cut(summary.description, SEARCH_DESCRIPTION_LIMIT) };
      });
      return {
        listings,
        total,
        limit: query.limit,
        offset: query.offset,
        ...(didYouMean === undefined ? {} : { did_you_mean: didYouMean }),
      };
    },

    async detail(id) {
      const row = await findRow(id);
      const version = await versionOf(row);
      return {
        ...toSummary(row),
        published_at: (row.published_at ?? row.created_at).toISOString(),
        status: publishedStatus(row),
        on_chain_address: row.address,
        metadata_uri: row.metadata_uri,
        price_lamports: Number(row.price_lamports),
        min_deposit_lamports: Number(row.min_deposit_lamports),
        input_schema: version.input_schema as Listing['input_schema'],
        output_schema: version.output_schema as Listing['output_schema'],
      };
    },

    async find(id) {
      const row = await repository.findRun(parseListingId(id));
      if (!row) throw notFound();
      return {
        id: row.id,
        title: row.title,
        creator: row.creator,
        address: row.address,
        rentalModel: row.rental_model ?? 'one_time',
        priceLamports: row.price_lamports ?? 0n,
        minDepositLamports: row.min_deposit_lamports ?? 0n,
        runsPerMinute: row.operator_runs_per_minute ?? row.runs_per_minute,
        status: publishedStatus(row),
        metadataUri: row.metadata_uri,
        version: {
          id: row.version_id,
          inputSchema: row.input_schema,
          outputSchema: row.output_schema,
          timeoutSeconds: row.timeout_seconds,
          privatePart: row.private_part,
        },
      };
    },
  };
}

function toSummary(row: ListingSummaryRow): ListingSummary {
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    category: row.category as ListingSummary['category'],
    rental_model: row.rental_model ?? 'one_time',
    price_sol: solFromLamports(row.price_lamports ?? 0n),
    run_count: row.run_count,
    success_rate: row.run_count === 0 ? 0 : row.completed_count / row.run_count,
    creator: toCreator(row.creator, row.display_name, row.listing_count),
    rating: row.review_count === 0 ? 0 : row.rating_sum / row.review_count,
    review_count: row.review_count,
    last_updated: row.updated_at.toISOString(),
    sample_output: row.sample_output,
  };
}

function publishedStatus(row: Pick<ListingRow, 'id' | 'status'>): 'active' | 'paused' | 'closed' {
  if (row.status === 'draft') throw new Error(`Listing ${row.id} is a draft.`);
  return row.status;
}

const SURROGATE = /[\ud800-\udfff]/;

/** Cuts at a character, not inside one. */
function cut(text: string, limit: number): string {
  // No more code units than the limit, so no more characters either: most texts, and much cheaper.
  if (text.length <= limit) return text;
  // Without surrogates a code unit is a character.
  if (!SURROGATE.test(text.slice(0, limit))) return text.slice(0, limit - ELLIPSIS.length) + ELLIPSIS;
  const characters = Array.from(text);
  return characters.length <= limit ? text : characters.slice(0, limit - ELLIPSIS.length).join('') + ELLIPSIS;
}
