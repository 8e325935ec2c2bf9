import type { AlwaysThereToolName } from '@agent-rental/contract';
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

/** Most direct tools by default: clients put tools aside from about thirty on. */
const DIRECT_TOOLS_DEFAULT = 30;

/** Most direct tools at all. */
const DIRECT_TOOLS_MAX = 1_000;

/** Options of {@link rentedToolset}. */
export interface ToolsetOptions {
  /** Most direct tools, 0 to 1000; the most recent rentals. Default 30. */
  readonly limit?: number | undefined;
  /** The rentals with a direct tool. Default: the most recent ones, up to `limit`. */
  readonly select?: ToolSelection | undefined;
  /** Shared by toolsets that should not each fetch the same listings. Default: one per client. */
  readonly cache?: DirectToolCache | undefined;
  /** The spending limits for rentals and runs. Absent: nothing limits runs here, and `wallet` pays nothing. */
  readonly policy?: SpendingPolicy | undefined;
  /** Keeps the spends. Default: in memory, so that a restart begins a new day. */
  readonly ledger?: SpendingLedger | undefined;
  /** Pays for rentals inside `policy`. Absent: `rent_listing` says where a person can pay. */
  readonly wallet?: PayingWallet | undefined;
  /** Asked above the policy's `askAboveLamports`, where a call brings no `approve`. Absent there too: a refusal. */
  readonly approve?: Approve | undefined;
  /** Where people reach the marketplace. Default: where the client reaches it. */
  readonly publicUrl?: string | undefined;
  /** Address of the marketplace program. Default: the client's, or the published one. */
  readonly programId?: string | undefined;
  /** Told of each rental that was made through these tools. */
  readonly onRented?: ((agentId: string) => void) | undefined;
}

/** Part of a list of tools. */
export interface ToolPage {
  readonly tools: readonly RentedTool[];
  /** Tools in the whole list; more than so many where the rentals are not all counted. */
  readonly total: number;
  /** Where among the rentals the next page begins; absent where this one does not tell. */
  readonly next?: string | undefined;
}

/** The tools of one caller. */
export interface RentedToolset {
  /** The tools that need no rental. */
  readonly alwaysThere: readonly RentedTool[];
  /**
   * All tools: the fixed ones, then one per current rental, the most recent first. Fetched once.
   *
   * @throws ApiError or ConnectionError when the rentals cannot be listed.
   */
  list(options?: CallOptions): Promise<readonly RentedTool[]>;
  /** As `list`, fetched again. */
  refresh(options?: CallOptions): Promise<readonly RentedTool[]>;
  /**
   * The tools from one place in the list on, fetched now and without the rest of it: for servers that give it in pages
   * and keep nothing between two of them.
   *
   * @param place `next` of the page that ends at `start`: the tools before are then not read again.
   * @throws ApiError or ConnectionError when the rentals cannot be listed.
   */
  page(start: number, size: number, options?: CallOptions, place?: string): Promise<ToolPage>;
  /**
   * A tool by its name. Finds the tool of any rental, also of one that is not listed: made a moment ago,
   * beyond the limit, or out of balance. Where the name tells the listing, it is not checked whether it is rented: the tool of
   * one which is not says how to rent it when it is called.
   *
   * @throws ApiError or ConnectionError when the rentals cannot be listed.
   */
  find(name: string, options?: CallOptions): Promise<RentedTool | undefined>;
}

/** A listing that is asked for by its id, whether it is rented or not. */
function askedFor(id: string) {
  return { listing_id: id, listing_title: id, rental_model: 'per_query' } as const;
}

function limitOf({ limit, select }: ToolsetOptions): number {
  if (select === 'none') return 0;
  if (select === 'all') return DIRECT_TOOLS_MAX;
  if (select !== undefined) return select.length;
  return Math.min(Math.max(Math.trunc(limit ?? DIRECT_TOOLS_DEFAULT), 0), DIRECT_TOOLS_MAX);
}

/** The tools that a client's rentals give. Nothing is fetched before it is asked for. */
export function rentedToolset(client: RentalClient, options: ToolsetOptions = {}): RentedToolset {
  const limit = limitOf(options);
  const named = Array.isArray(options.select) ? (options.select as readonly string[]) : undefined;
  const cache = options.cache ?? cacheOf(client);
  const { policy, ledger, wallet, approve, onRented, publicUrl = client.baseUrl } = options;
  const context: ToolContext = {
    client,
    cache,
    publicUrl,
    spending: policy && createSpending({ policy, ledger }),
    // Without a policy there is nothing that a payment could be inside of.
    wallet: policy && wallet,
    inspect: wallet?.inspect ?? inspectForPayer,
    programId: options.programId ?? client.programId,
    approve,
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

  /** Direct tools of listings that were named, in that order; of an id that there is none of, no tool. */
  const fetchNamed = async (
    ids: readonly string[],
    total: number,
    { signal }: CallOptions,
  ): Promise<ToolPage> => {
    const found = await Promise.all(ids.map((id) => cache.definition(client, askedFor(id), signal)));
    const tools = found.flatMap((definition) => (definition ? [bindDirectTool(context, definition)] : []));
    return { tools, total };
  };
  /** Direct tools of the rentals from `start` up to `end`, and how many there are in all. */
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
      // Past the end, or a page of fixed tools alone, the total is still needed.
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
