import {
  REFUSAL_TEXT,
  SEARCH_DESCRIPTION_LIMIT,
  type Category,
  solFromLamports,
  type Listing,
  type ListingPage,
  type ListingStatus,
  type ListingSummary,
  type RentedListing,
  type searchListingsQuery,
  type RentalModel,
} from '@agent-rental/contract';
import type { z } from 'zod';
import type { Owner } from '../access/owner.js';
import { ApiError } from '../errors/api-error.js';
import { ELLIPSIS } from '../platform/clean-text.js';
import { toCreator } from './creators.js';
import { iconPath } from './icons.js';
import { parseListingId } from './listing-id.js';
import type { ListingRow, ListingSummaryRow } from './listing-row.js';
import type { ListingRepository, RentedRunRow, RunListingRow } from './repository.js';

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
  status: ListingStatus;
  /** The operator's, while it is suspended and the operator gave one. */
  suspensionReason?: string | undefined;
  /** Who may run it once without a rental, for nothing. */
  freeTrial: 'anyone' | 'renters' | null;
  metadataUri: string;
  version: {
    id: string;
    number: number;
    inputSchema: Record<string, unknown>;
    outputSchema: Record<string, unknown>;
    timeoutSeconds: number;
    /** Sealed; the model gateway and the execution of connected agents open it. */
    privatePart: Buffer;
  };
}

/** A wallet's rental of a listing by the index. */
export interface IndexedRental {
  rentalModel: RentalModel;
  valid: boolean;
  expiresAt: Date | null;
  /** Of a Per-Task rental. */
  balance: { balanceLamports: bigint; maxPriceLamports: bigint } | undefined;
}

export interface ListingService {
  search(query: z.output<typeof searchListingsQuery>): Promise<ListingPage>;
  /** @throws ApiError `invalid_listing_id` or `listing_not_found`. */
  detail(id: string, number?: number): Promise<Listing>;
  /**
   * @param number of the version that is to run; absent: the latest
   * @throws ApiError `invalid_listing_id` or `listing_not_found`; `invalid_request` for a version that cannot run.
   */
  find(id: string, number?: number): Promise<PublishedListing>;
  /**
   * The same for a caller: with the index's entry of its wallet's rental. Without a requested version it is the pinned
   * one.
   *
   * @throws as `find`.
   */
  findFor(
    owner: Owner,
    id: string,
    number?: number,
  ): Promise<{ listing: PublishedListing; rental: IndexedRental | undefined }>;
  /** The listings on sale of a creator, the newest first. */
  ofCreator(wallet: string): Promise<ListingSummary[]>;
  /** How many listings on sale each category has. */
  countCategories(): Promise<ReadonlyMap<Category, number>>;
  /** Id of the published listing whose on-chain account has this address. */
  findIdByAddress(address: string): Promise<string | undefined>;
  /** The input schemas of published listings, by id. */
  describe(ids: string[]): Promise<Map<string, RentedListing>>;
}

/** The newest listings on a creator's page. */
const LISTINGS_OF_CREATOR = 60;

const notFound = () => new ApiError('listing_not_found', REFUSAL_TEXT.noSuchListing);

const noVersion = (number: number | undefined) =>
  new ApiError('invalid_request', `version: this listing has no version ${number}.`, {
    next: 'GET /v1/listings/:id says which one is the latest.',
  });

/** A pinned run never runs another version instead. */
const versionEnded = (number: number | undefined, latest: number, by: 'request' | 'pin') =>
  by === 'request'
    ? new ApiError('invalid_request', `version: version ${number} does not run any more.`, {
        next: `Nothing was charged. Leave version out to run the latest, ${latest}; GET /v1/listings/:id shows its schemas.`,
      })
    : new ApiError(
        'invalid_request',
        `This agent is pinned to its version ${number}, which does not run any more; the latest is ${latest}.`,
        {
          next:
            'Nothing was charged. GET /v1/listings/:id?version=N shows the schemas of a version; PUT ' +
            '/v1/credentials/:listing_id/version pins another one, or with {"version": null} runs the latest.',
        },
      );

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

  const suspensionReason = async ({ id, status }: Pick<ListingRow, 'id' | 'status'>) =>
    status === 'suspended' ? repository.findSuspensionReason(id) : undefined;

  const toPublished = async (
    row: RunListingRow | undefined,
    number: number | undefined,
    by: 'request' | 'pin',
  ): Promise<PublishedListing> => {
    if (!row) throw notFound();
    const pinned =
      number === undefined || number === row.number
        ? undefined
        : await repository.findNumbered({ id: row.id, versionId: row.version_id }, number);
    if (number !== undefined && number !== row.number && !pinned) throw noVersion(number);
    if (pinned?.private_part === null) throw versionEnded(number, row.number, by);
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
      suspensionReason: await suspensionReason(row),
      freeTrial: row.free_trial,
      metadataUri: row.metadata_uri,
      version: {
        id: pinned?.id ?? row.version_id,
        number: pinned?.number ?? row.number,
        inputSchema: pinned?.input_schema ?? row.input_schema,
        outputSchema: pinned?.output_schema ?? row.output_schema,
        timeoutSeconds: pinned?.timeout_seconds ?? row.timeout_seconds,
        privatePart: pinned?.private_part ?? row.private_part,
      },
    };
  };

  return {
    countCategories: () => repository.countCategories(),
    ofCreator: async (wallet) =>
      (await repository.findOfCreator(wallet, LISTINGS_OF_CREATOR)).map((row) => toSummary(row)),
    findIdByAddress: (address) => repository.findPublishedId(address),

    async describe(ids) {
      const rows = ids.length === 0 ? [] : await repository.findCalled(ids);
      return new Map(
        rows.map(({ id, description, price_lamports, input_schema, failing_since }) => [
          id,
          {
            description,
            price_lamports: Number(price_lamports ?? 0n),
            input_schema: input_schema as Listing['input_schema'],
            ...failingSince(failing_since),
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

    async detail(id, number) {
      const row = await findRow(id);
      const version =
        number === undefined
          ? await versionOf(row)
          : await repository.findNumbered({ id: row.id, versionId: row.version_id }, number);
      if (!version) throw noVersion(number);
      const reason = await suspensionReason(row);
      const category = (version.category ?? row.category) as ListingSummary['category'];
      return {
        ...toSummary(row),
        ...(number === undefined ? {} : { description: version.description ?? row.description, category }),
        version: version.number,
        published_at: (row.published_at ?? row.created_at).toISOString(),
        status: publishedStatus(row),
        ...(reason === undefined ? {} : { suspension_reason: reason }),
        on_chain_address: row.address,
        metadata_uri: row.metadata_uri,
        price_lamports: Number(row.price_lamports),
        min_deposit_lamports: Number(row.min_deposit_lamports),
        input_schema: version.input_schema as Listing['input_schema'],
        output_schema: version.output_schema as Listing['output_schema'],
        ...(row.readme === null ? {} : { readme: row.readme }),
        // A run that has succeeded verifies it.
        ...(row.unverified_at !== null && row.completed_count === 0
          ? { unverified_since: row.unverified_at.toISOString() }
          : {}),
      };
    },

    find: async (id, number) => toPublished(await repository.findRun(parseListingId(id)), number, 'request'),

    async findFor(owner, id, number) {
      const row = await repository.findRunFor(parseListingId(id), owner);
      const listing = await (number === undefined
        ? toPublished(row, row?.pinned_version ?? undefined, 'pin')
        : toPublished(row, number, 'request'));
      return { listing, rental: row && rentalOf(row) };
    },
  };
}

function rentalOf(row: RentedRunRow): IndexedRental | undefined {
  const {
    rented_as: rentalModel,
    valid,
    expires_at: expiresAt,
    balance_lamports: balanceLamports,
    max_price_lamports: maxPriceLamports,
  } = row;
  if (rentalModel === null || valid === null) return undefined;
  const balance =
    balanceLamports === null || maxPriceLamports === null ? undefined : { balanceLamports, maxPriceLamports };
  return { rentalModel, valid, expiresAt, balance };
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
    ...failingSince(row.failing_since),
    ...(row.free_trial === null ? {} : { free_trial: row.free_trial === 'renters' ? 'renters' : true }),
    ...(row.median_ms === null ? {} : { median_ms: row.median_ms }),
    ...(row.icon_sha256 === null ? {} : { icon_path: iconPath(row.icon_sha256) }),
  };
}

const failingSince = (since: Date | null): Pick<ListingSummary, 'failing_since'> =>
  since === null ? {} : { failing_since: since.toISOString() };

function publishedStatus(row: Pick<ListingRow, 'id' | 'status'>): ListingStatus {
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
