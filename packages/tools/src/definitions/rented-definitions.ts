import type { Credential } from '@agent-rental/contract';
import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import type { DirectToolDefinition } from './direct-tool-definition.js';
import type { DirectToolCache } from './direct-tool-cache.js';

/** Largest page of credentials that the API gives. */
export const CREDENTIALS_PAGE = 100;

/** How many listings are fetched one by one; more come with the list of rentals. */
const FETCHED_ONE_BY_ONE = 6;

/** Part of the caller's current rentals, as definitions of their direct tools. */
export interface DefinitionPage {
  readonly definitions: readonly DirectToolDefinition[];
  /** Rentals in all. */
  readonly total: number;
}

/** A page of rentals as it was listed. */
interface RentalPage {
  readonly credentials: readonly Credential[];
  readonly total: number;
  /** The listings came with the list; where there is another page, they should again. */
  readonly included: boolean;
}

/**
 * Fetches definitions, the most recent rental first. What the cache lacks comes with the list itself, unless it is
 * little: a request per rental would run into the limit of requests. Where more than a page is wanted, the others are on
 * their way while the first is worked on.
 *
 * @throws ApiError or ConnectionError when the rentals cannot be listed.
 */
export async function rentedDefinitions(
  client: RentalClient,
  cache: DirectToolCache,
  { offset, limit }: { offset: number; limit: number },
  options: CallOptions = {},
): Promise<DefinitionPage> {
  const listFrom = (start: number, isCold: boolean): Promise<RentalPage> => {
    const page = { limit: Math.min(offset + limit - start, CREDENTIALS_PAGE), offset: start, isCold };
    return listPage(client, cache, page, options);
  };
  const define = async ({ credentials, included }: RentalPage) => {
    const definitions = [];
    for (const credential of credentials) {
      const definition = cache.definition(client, credential, options.signal);
      // Definitions of included listings are made one by one, so that the requests for the other pages are sent in between.
      if (included) await definition;
      definitions.push(definition);
    }
    return Promise.all(definitions);
  };

  const isCold = cache.isEmpty;
  const listing = listFrom(offset, isCold);
  // A caller that wants more than a page mostly has more rentals; how many is not known yet.
  const others = limit > CREDENTIALS_PAGE ? [listFrom(offset + CREDENTIALS_PAGE, isCold).then(define)] : [];
  // May stay unawaited where the first page fails; avoids an unhandled rejection.
  for (const other of others) other.catch(() => undefined);
  const first = await listing;
  const end = Math.min(offset + limit, first.total);
  for (let start = offset + 2 * CREDENTIALS_PAGE; start < end; start += CREDENTIALS_PAGE)
    others.push(listFrom(start, first.included).then(define));
  const definitions = (await Promise.all([define(first), ...others])).flat();
  return { definitions: definitions.filter((definition) => definition !== undefined), total: first.total };
}

async function listPage(
  client: RentalClient,
  cache: DirectToolCache,
  { isCold, ...page }: { limit: number; offset: number; isCold: boolean },
  options: CallOptions,
): Promise<RentalPage> {
  const list = async (included: boolean): Promise<RentalPage> => {
    const include = included ? ({ include: 'listing' } as const) : {};
    return {
      ...(await client.listCredentials({ status: 'current', ...page, ...include }, options)),
      included,
    };
  };
  const listed = await list(isCold);
  const missing = listed.credentials.filter(({ listing_id }) => !cache.has(listing_id));
  return listed.included || missing.length <= FETCHED_ONE_BY_ONE ? listed : list(true);
}
