import type { Credential } from '@agent-rental/contract';
import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import { bindDirectTool } from './direct-tool.js';
import { DirectToolCache } from './direct-tool-cache.js';
import { getListingTool } from './fixed-tools/get-listing.js';
import { getRunTool } from './fixed-tools/get-run.js';
import { runAgentTool } from './fixed-tools/run-agent.js';
import { searchListingsTool } from './fixed-tools/search-listings.js';
import type { RentedTool } from './rented-tool.js';
import { toolName } from './tool-name.js';

/** Most direct tools by default: clients put tools aside from about thirty on. */
export const DIRECT_TOOLS_DEFAULT = 30;

/** Largest page of credentials that the API gives. */
const CREDENTIALS_PAGE = 100;

/** How many listings are fetched at a time. */
const CONCURRENT_FETCHES = 6;

/** Options of {@link rentedToolset}. */
export interface ToolsetOptions {
  /** Most direct tools, 0 to 100; the most recent rentals. Default 30. */
  readonly limit?: number | undefined;
  /** Shared by toolsets that should not each fetch the same listings. */
  readonly cache?: DirectToolCache | undefined;
}

/** The tools of one caller. */
export interface RentedToolset {
  /** The tools that need no rental. */
  readonly fixedTools: readonly RentedTool[];
  /**
   * All tools: the fixed ones, then one per active rental, the most recent first. Fetched once.
   *
   * @throws ApiError or ConnectionError when the rentals cannot be listed.
   */
  list(options?: CallOptions): Promise<readonly RentedTool[]>;
  /** As `list`, fetched again. */
  refresh(options?: CallOptions): Promise<readonly RentedTool[]>;
  /**
   * A tool by its name. Finds the tool of any rental, also of one that is not listed: made a moment ago,
   * beyond the limit, or out of balance.
   *
   * @throws ApiError or ConnectionError when the rentals cannot be listed.
   */
  find(name: string, options?: CallOptions): Promise<RentedTool | undefined>;
}

/** The tools that a client's rentals give. Nothing is fetched before it is asked for. */
export function rentedToolset(client: RentalClient, options: ToolsetOptions = {}): RentedToolset {
  const limit = Math.min(Math.max(Math.trunc(options.limit ?? DIRECT_TOOLS_DEFAULT), 0), CREDENTIALS_PAGE);
  const cache = options.cache ?? new DirectToolCache();
  const fixedTools = [
    searchListingsTool(client),
    getListingTool(client),
    runAgentTool(client, cache),
    getRunTool(client),
  ];
  let listed: readonly RentedTool[] | undefined;

  const directTool = async (
    credential: Credential,
    signal?: AbortSignal,
  ): Promise<RentedTool | undefined> => {
    const definition = await cache.definition(client, credential, signal);
    return definition && bindDirectTool(client, definition);
  };

  const fetchTools = async (given: CallOptions): Promise<readonly RentedTool[]> => {
    const direct: RentedTool[] = [];
    if (limit > 0) {
      const page = await client.listCredentials({ status: 'active', limit: CREDENTIALS_PAGE }, given);
      const recent = page.credentials.sort(byPurchase).slice(0, limit);
      for (let start = 0; start < recent.length; start += CONCURRENT_FETCHES) {
        const batch = recent.slice(start, start + CONCURRENT_FETCHES);
        const tools = await Promise.all(batch.map((credential) => directTool(credential, given.signal)));
        direct.push(...tools.filter((tool) => tool !== undefined));
      }
    }
    listed = [...fixedTools, ...direct];
    return listed;
  };

  return {
    fixedTools,
    list: async (given = {}) => listed ?? fetchTools(given),
    refresh: (given = {}) => fetchTools(given),
    find: async (name, given = {}) => {
      const known = [...fixedTools, ...(listed ?? [])].find((tool) => tool.name === name);
      if (known !== undefined) return known;
      const page = await client.listCredentials({ limit: CREDENTIALS_PAGE }, given);
      for (const credential of page.credentials) {
        if ((await toolName(credential.listing_id)) === name) return directTool(credential, given.signal);
      }
      return undefined;
    },
  };
}

function byPurchase(first: Credential, second: Credential): number {
  return Date.parse(second.purchased_at) - Date.parse(first.purchased_at);
}
