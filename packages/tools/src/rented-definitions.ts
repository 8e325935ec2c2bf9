import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import type { DirectToolDefinition } from './direct-tool.js';
import type { DirectToolCache } from './direct-tool-cache.js';

/** How many listings are fetched one by one; more come with the list of rentals. */
const FETCHED_ONE_BY_ONE = 6;

/** A page of the caller's active rentals, as definitions of their direct tools. */
export interface DefinitionPage {
  readonly definitions: readonly DirectToolDefinition[];
  /** The listings came with the list; where there is another page, they should again. */
  readonly included: boolean;
  /** Rentals on all pages. */
  readonly total: number;
}

/**
 * Fetches one page of definitions, the most recent rental first. What the cache lacks comes with the list itself,
 * unless it is little: a request per rental would run into the limit of requests.
 *
 * @param page at most 100 rentals.
 * @throws ApiError or ConnectionError when the rentals cannot be listed.
 */
export async function rentedDefinitions(
  client: RentalClient,
  cache: DirectToolCache,
  page: { limit: number; offset: number; include?: boolean },
  options: CallOptions = {},
): Promise<DefinitionPage> {
  const { limit, offset } = page;
  const list = (include: boolean) =>
    client.listCredentials(
      { status: 'active', limit, offset, ...(include ? { include: 'listing' } : {}) },
      options,
    );
  let included = page.include === true || cache.isEmpty;
  let { credentials, total } = await list(included);
  const missing = credentials.filter(({ listing_id }) => !cache.has(listing_id));
  if (!included && missing.length > FETCHED_ONE_BY_ONE) {
    included = true;
    ({ credentials, total } = await list(included));
  }
  const definitions = await Promise.all(
    credentials.map((credential) => cache.definition(client, credential, options.signal)),
  );
  return { definitions: definitions.filter((definition) => definition !== undefined), included, total };
}
