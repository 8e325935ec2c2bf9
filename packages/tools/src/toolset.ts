import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import { bindDirectTool } from './direct-tool.js';
import { cacheOf, type DirectToolCache } from './direct-tool-cache.js';
import { cancelRunTool } from './fixed-tools/cancel-run.js';
import { getListingTool } from './fixed-tools/get-listing.js';
import { getRunTool } from './fixed-tools/get-run.js';
import { hireTool } from './fixed-tools/hire.js';
import { rentListingTool } from './fixed-tools/rent-listing.js';
import { runAgentTool } from './fixed-tools/run-agent.js';
import { searchListingsTool } from './fixed-tools/search-listings.js';
import { rentedDefinitions } from './rented-definitions.js';
import type { RentedTool } from './rented-tool.js';
import type { PayingWallet } from './renting/paying-wallet.js';
import type { SpendingLedger } from './spending/ledger.js';
import type { Approve, SpendingPolicy } from './spending/policy.js';
import { createSpending } from './spending/spending.js';
import type { ToolContext } from './tool-context.js';
import { toolName } from './tool-name.js';

/** Most direct tools by default: clients put tools aside from about thirty on. */
export const DIRECT_TOOLS_DEFAULT = 30;

/** Largest page of credentials that the API gives. */
const CREDENTIALS_PAGE = 100;

/** Most direct tools at all. */
const DIRECT_TOOLS_MAX = 1_000;

/** Options of {@link rentedToolset}. */
export interface ToolsetOptions {
  /** Most direct tools, 0 to 1000; the most recent rentals. Default 30. */
  readonly limit?: number | undefined;
  /** Shared by toolsets that should not each fetch the same listings. Default: one per client. */
  readonly cache?: DirectToolCache | undefined;
  /** What may be spent, on rentals and on runs. Absent: nothing limits runs here, and `wallet` pays nothing. */
  readonly policy?: SpendingPolicy | undefined;
  /** Where is kept what was spent. Default: in memory, so that a restart begins a new day. */
  readonly ledger?: SpendingLedger | undefined;
  /** Pays for rentals inside `policy`. Absent: `rent_listing` says where a person can pay. */
  readonly wallet?: PayingWallet | undefined;
  /** Asked above the policy's `askAboveLamports`, where a call brings nobody to ask. Absent there too: a refusal. */
  readonly approve?: Approve | undefined;
  /** Where people reach the marketplace. Default: where the client reaches it. */
  readonly publicUrl?: string | undefined;
  /** Told of each rental that was made through these tools. */
  readonly onRented?: ((agentId: string) => void) | undefined;
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
  const limit = Math.min(Math.max(Math.trunc(options.limit ?? DIRECT_TOOLS_DEFAULT), 0), DIRECT_TOOLS_MAX);
  const cache = options.cache ?? cacheOf(client);
  const { policy, ledger, wallet, approve, onRented, publicUrl = client.baseUrl } = options;
  const context: ToolContext = {
    client,
    cache,
    publicUrl,
    spending: policy && createSpending({ policy, ledger }),
    // Without a policy there is nothing that a payment could be inside of.
    wallet: policy && wallet,
    approve,
    onRented,
    unsettled: new Map(),
  };
  const fixedTools = [
    searchListingsTool(client),
    getListingTool(client),
    rentListingTool(context),
    hireTool(context),
    runAgentTool(context),
    getRunTool(client),
    cancelRunTool(client),
  ];
  let listed: readonly RentedTool[] | undefined;

  const fetchTools = async (given: CallOptions): Promise<readonly RentedTool[]> => {
    const direct: RentedTool[] = [];
    let total = limit;
    let include = false;
    for (let offset = 0; offset < Math.min(limit, total); offset += CREDENTIALS_PAGE) {
      const page = { limit: Math.min(limit - offset, CREDENTIALS_PAGE), offset, include };
      const rented = await rentedDefinitions(client, cache, page, given);
      ({ total, included: include } = rented);
      direct.push(...rented.definitions.map((definition) => bindDirectTool(context, definition)));
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
      let total = 1;
      for (let offset = 0; offset < total; offset += CREDENTIALS_PAGE) {
        const page = await client.listCredentials({ limit: CREDENTIALS_PAGE, offset }, given);
        total = page.total;
        for (const credential of page.credentials) {
          if ((await toolName(credential.listing_id)) !== name) continue;
          const definition = await cache.definition(client, credential, given.signal);
          return definition && bindDirectTool(context, definition);
        }
      }
      return undefined;
    },
  };
}
