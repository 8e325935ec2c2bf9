import type { Credential, PageEnd } from '@agent-rental/contract';
import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import type { DirectToolDefinition } from './direct-tool-definition.js';
import type { DirectToolCache } from './direct-tool-cache.js';
import { withUpdate } from './updated-definition.js';

/** Largest page of credentials that the API gives. */
export const CREDENTIALS_PAGE = 100;

/** How many listings are fetched one by one; more come with the list of rentals. */
const FETCHED_ONE_BY_ONE = 6;

/** Part of the caller's current rentals, as definitions of their direct tools. */
export interface DefinitionPage {
  readonly definitions: readonly DirectToolDefinition[];
  /** Rentals in all, as the API counts them. */
  readonly total: number;
  /** Where the next part begins, and whether `total` is a minimum. */
  readonly end: PageEnd;
}

/** Where a page of rentals begins: after so many, or at the `next_cursor` of another page. */
interface Place {
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/** A page of rentals as it was listed. */
interface RentalPage extends PageEnd {
  readonly credentials: readonly Credential[];
  readonly total: number;
  /** The listings came with the list; where there is another page, they should again. */
  readonly included: boolean;
}

/**
 * Fetches definitions, the most recent rental first. Listings that the cache lacks come with the list itself, unless it is
 * little: a request per rental would run into the limit of requests. Where more than a page is wanted, the next ones are on
 * their way while one is worked on.
 *
 * @throws ApiError or ConnectionError when the rentals cannot be listed.
 */
export async function rentedDefinitions(
  client: RentalClient,
  cache: DirectToolCache,
  { offset, limit, cursor }: Place & { readonly limit: number },
  options: CallOptions = {},
): Promise<DefinitionPage> {
  const listFrom = (place: Place, most: number, isCold: boolean): Promise<RentalPage> =>
    listPage(client, cache, { ...place, limit: Math.min(most, CREDENTIALS_PAGE), isCold }, options);
  const define = async ({ credentials, included }: RentalPage) => {
    const definitions = [];
    for (const credential of credentials) {
      const definition = cache
        .definition(client, credential, options.signal)
        .then((known) => known && withUpdate(known, credential.update));
      // Definitions of included listings are made one by one, so that the requests for the other pages are sent in between.
      if (included) await definition;
      definitions.push(definition);
    }
    return Promise.all(definitions);
  };
  const pages: Promise<readonly (DirectToolDefinition | undefined)[]>[] = [];
  const take = (page: RentalPage): void => {
    const defined = define(page);
    // May stay unawaited where another page fails; avoids an unhandled rejection.
    defined.catch(() => undefined);
    pages.push(defined);
  };

  const isCold = cache.isEmpty;
  const listing = listFrom({ offset, cursor }, limit, isCold);
  // A caller that wants more than a page mostly has more rentals; how many is not known yet.
  const second =
    cursor === undefined && limit > CREDENTIALS_PAGE
      ? listFrom({ offset: offset + CREDENTIALS_PAGE }, limit - CREDENTIALS_PAGE, isCold)
      : undefined;
  second?.catch(() => undefined);
  const first = await listing;
  take(first);
  let wanted = limit - CREDENTIALS_PAGE;
  let last = first;
  if (second !== undefined) {
    last = await second;
    take(last);
    wanted -= CREDENTIALS_PAGE;
  }
  for (; wanted > 0 && last.next_cursor !== undefined; wanted -= CREDENTIALS_PAGE) {
    last = await listFrom({ offset: 0, cursor: last.next_cursor }, wanted, first.included);
    take(last);
  }
  const definitions = (await Promise.all(pages)).flat();
  return {
    definitions: definitions.filter((definition) => definition !== undefined),
    total: first.total,
    end: { next_cursor: last.next_cursor, total_is_minimum: first.total_is_minimum },
  };
}

async function listPage(
  client: RentalClient,
  cache: DirectToolCache,
  { isCold, ...page }: Place & { limit: number; isCold: boolean },
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
