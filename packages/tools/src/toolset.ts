import type { AlwaysThereToolName, RunCallback } from '@agent-rental/contract';
import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import { bindDirectTool } from './runs/bind-direct-tool.js';
import { cacheOf, type DirectToolCache } from './definitions/direct-tool-cache.js';
import { cancelRunTool } from './always-there/cancel-run.js';
import { getListingTool } from './always-there/get-listing.js';
import { getRunTool } from './always-there/get-run.js';
import { listRentalsTool } from './always-there/list-rentals.js';
import { hireTool } from './always-there/hire.js';
import { rentListingTool } from './always-there/rent-listing.js';
import { runAgentTool } from './always-there/run-agent.js';
import { searchListingsTool } from './always-there/search-listings.js';
import { CREDENTIALS_PAGE, rentedDefinitions } from './definitions/rented-definitions.js';
import type { RentedTool } from './definitions/rented-tool.js';
import { inspectForPayer, type PayingWallet } from './renting/paying-wallet.js';
import type { SpendingLedger } from './spending/ledger.js';
import type { Approve, SpendingPolicy } from './spending/policy.js';
import { createSpending } from './spending/spending.js';
import type { ToolSelection } from './definitions/tool-selection.js';
import type { ToolContext } from './definitions/tool-context.js';
import { listingIdOf, toolName } from './definitions/tool-name.js';

/** Default number of direct tools. Clients may hide tools above about thirty. */
const DIRECT_TOOLS_DEFAULT = 30;

/** Highest number of direct tools. */
const DIRECT_TOOLS_MAX = 1_000;

/** Options of {@link rentedToolset}. */
export interface ToolsetOptions {
  /** Highest number of direct tools, 0 to 1000, for the most recent rentals. Default 30. */
  readonly limit?: number | undefined;
  /** The rentals with a direct tool. Default: the most recent ones, up to `limit`. */
  readonly select?: ToolSelection | undefined;
  /** Cache that several toolsets share, so that they fetch a listing once. Default: one per client. */
  readonly cache?: DirectToolCache | undefined;
  /** The spending limits for rentals and runs. Absent: runs have no limit here, and `wallet` pays nothing. */
  readonly policy?: SpendingPolicy | undefined;
  /** Keeps the spends. Default: in memory, so a restart starts a new day. */
  readonly ledger?: SpendingLedger | undefined;
  /** Pays for rentals within `policy`. Absent: `rent_listing` returns the payment page. */
  readonly wallet?: PayingWallet | undefined;
  /** Asked above the policy's `askAboveLamports`, if a call has no `approve`. Without both, the spend is refused. */
  readonly approve?: Approve | undefined;
  /** Hears of the end of each run, if its call has no `callback`. The wallet's webhook without an address signs for it. */
  readonly callback?: RunCallback | undefined;
  /** The marketplace's address for people. Default: the client's address. */
  readonly publicUrl?: string | undefined;
  /** Address of the marketplace program. Default: the client's, or the published one. */
  readonly programId?: string | undefined;
  /** Called after each rental by these tools. */
  readonly onRented?: ((agentId: string) => void) | undefined;
}

/** Part of a list of tools. */
export interface ToolPage {
  readonly tools: readonly RentedTool[];
  /** Number of tools in the whole list; a minimum if not all rentals are counted. */
  readonly total: number;
  /** Start of the next page among the rentals; absent if this page does not know it. */
  readonly next?: string | undefined;
}

/** The tools of one caller. */
export interface RentedToolset {
  /** The tools that need no rental. */
  readonly alwaysThere: readonly RentedTool[];
  /**
   * All tools: the fixed ones, then one per current rental, the most recent first. Fetched once.
   *
   * @throws ApiError or ConnectionError if the rentals cannot be listed.
   */
  list(options?: CallOptions): Promise<readonly RentedTool[]>;
  /** Fetches the list again. */
  refresh(options?: CallOptions): Promise<readonly RentedTool[]>;
  /**
   * One page of the tools, fetched now, without the other pages. For servers that keep no state between two pages.
   *
   * @param place `next` of the page that ends at `start`, so that earlier tools are not read again.
   * @throws ApiError or ConnectionError if the rentals cannot be listed.
   */
  page(start: number, size: number, options?: CallOptions, place?: string): Promise<ToolPage>;
  /**
   * A tool by its name. It finds the tool of every rental, also one that is new, above the limit, or without balance. If the
   * name has the listing's id, `find` does not check the rental. A call of an unrented agent's tool says how to rent it.
   *
   * @throws ApiError or ConnectionError if the rentals cannot be listed.
   */
  find(name: string, options?: CallOptions): Promise<RentedTool | undefined>;
}

/** A listing by its id, rented or not. */
function askedFor(id: string) {
  return { listing_id: id, listing_title: id, rental_model: 'per_query' } as const;
}

function limitOf({ limit, select }: ToolsetOptions): number {
  if (select === 'none') return 0;
  if (select === 'all') return DIRECT_TOOLS_MAX;
  if (select !== undefined) return select.length;
  return Math.min(Math.max(Math.trunc(limit ?? DIRECT_TOOLS_DEFAULT), 0), DIRECT_TOOLS_MAX);
}

/** The tools of a client's rentals. It sends no request before the first call. */
export function rentedToolset(client: RentalClient, options: ToolsetOptions = {}): RentedToolset {
  const limit = limitOf(options);
  const named = Array.isArray(options.select) ? (options.select as readonly string[]) : undefined;
  const cache = options.cache ?? cacheOf(client);
  const { policy, ledger, wallet, approve, callback, onRented, publicUrl = client.baseUrl } = options;
  const context: ToolContext = {
    client,
    cache,
    publicUrl,
    spending: policy && createSpending({ policy, ledger }),
    // Without a policy, the wallet pays nothing.
    wallet: policy && wallet,
    inspect: wallet?.inspect ?? inspectForPayer,
    programId: options.programId ?? client.programId,
    approve,
    callback,
    onRented,
    unsettled: new Map(),
    paying: new Map(),
  };
  const alwaysThere = Object.values({
    search_listings: searchListingsTool(client),
    get_listing: getListingTool(client),
    rent_listing: rentListingTool(context),
    hire: hireTool(context),
    list_rentals: listRentalsTool(client),
    run_agent: runAgentTool(context),
    get_run: getRunTool(client),
    cancel_run: cancelRunTool(client),
  } satisfies Record<AlwaysThereToolName, RentedTool>);
  let listed: readonly RentedTool[] | undefined;

  /** Direct tools of the named listings, in this order. An unknown id gives no tool. */
  const fetchNamed = async (
    ids: readonly string[],
    total: number,
    { signal }: CallOptions,
  ): Promise<ToolPage> => {
    const found = await Promise.all(ids.map((id) => cache.definition(client, askedFor(id), signal)));
    const tools = found.flatMap((definition) => (definition ? [bindDirectTool(context, definition)] : []));
    return { tools, total };
  };
  /** Direct tools of the rentals from `start` up to `end`, and the number of all rentals. */
  const fetchDirect = async (
    start: number,
    end: number,
    given: CallOptions,
    place?: string,
  ): Promise<ToolPage> => {
    if (named !== undefined) return fetchNamed(named.slice(start, end), named.length, given);
    const range = { offset: place === undefined ? start : 0, limit: end - start, cursor: place };
    const { definitions, total, end: rest } = await rentedDefinitions(client, cache, range, given);
    const tools = definitions.map((definition) => bindDirectTool(context, definition));
    return { tools, total: Math.min(total, limit), next: rest.next_cursor };
  };
  const fetchTools = async (given: CallOptions): Promise<readonly RentedTool[]> => {
    const direct = limit === 0 ? [] : (await fetchDirect(0, limit, given)).tools;
    listed = [...alwaysThere, ...direct];
    return listed;
  };

  return {
    alwaysThere,
    list: async (given = {}) => listed ?? fetchTools(given),
    refresh: (given = {}) => fetchTools(given),
    page: async (start, size, given = {}, place) => {
      const fixed = alwaysThere.slice(start, start + size);
      const from = Math.max(start - alwaysThere.length, 0);
      const to = Math.min(from + size - fixed.length, limit);
      // A page past the end, or of only fixed tools, still needs the total.
      const direct =
        limit === 0 ? { tools: [], total: 0 } : await fetchDirect(from, Math.max(to, from + 1), given, place);
      return {
        tools: [...fixed, ...direct.tools.slice(0, Math.max(to - from, 0))],
        total: alwaysThere.length + direct.total,
        next: to > from ? direct.next : undefined,
      };
    },
    find: async (name, given = {}) => {
      const known = [...alwaysThere, ...(listed ?? [])].find((tool) => tool.name === name);
      if (known !== undefined) return known;
      const id = listingIdOf(name);
      if (id !== undefined) {
        const definition = await cache.definition(client, askedFor(id), given.signal);
        return definition && bindDirectTool(context, definition);
      }
      let cursor: string | undefined;
      do {
        const page = await client.listCredentials({ limit: CREDENTIALS_PAGE, cursor }, given);
        cursor = page.next_cursor;
        for (const credential of page.credentials) {
          if ((await toolName(credential.listing_id)) !== name) continue;
          const definition = await cache.definition(client, credential, given.signal);
          return definition && bindDirectTool(context, definition);
        }
      } while (cursor !== undefined);
      return undefined;
    },
  };
}
