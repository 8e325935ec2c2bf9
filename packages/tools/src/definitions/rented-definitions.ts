import type { Credential, PageEnd } from '@agent-rental/contract';
import type { CallOptions, RentalClient } from '@agent-rental/sdk';
import type { DirectToolDefinition } from './direct-tool-definition.js';
import type { DirectToolCache } from './direct-tool-cache.js';
import { withUpdate } from './updated-definition.js';

/** Largest page of credentials of the API. */
export const CREDENTIALS_PAGE = 100;

/** Up to this number, listings are fetched one by one. More come with the list of rentals. */
const FETCHED_ONE_BY_ONE = 6;

/** A page of the caller's current rentals, as definitions of their direct tools. */
export interface DefinitionPage {
  readonly definitions: readonly DirectToolDefinition[];
  /** The API's count of all rentals. */
  readonly total: number;
  /** The start of the next page, and whether `total` is a minimum. */
  readonly end: PageEnd;
}

/** The start of a page of rentals: an offset, or the `next_cursor` of another page. */
interface Place {
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/** A listed page of rentals. */
interface RentalPage extends PageEnd {
  readonly credentials: readonly Credential[];
  readonly total: number;
  /** Whether the listings came with the list. If so, the next page asks for them, too. */
  readonly included: boolean;
}

/**
 * Fetches definitions, the most recent rental first. Many missing listings come with the list itself, because a request per
 * rental would exceed the rate limit. It fetches the next pages while it works on one.
 *
 * @throws ApiError or ConnectionError if the rentals cannot be listed.
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
      // Make definitions of included listings one by one, so that the requests for other pages are sent in between.
      if (included) await definition;
      definitions.push(definition);
    }
    return Promise.all(definitions);
  };
  const pages: Promise<readonly (DirectToolDefinition | undefined)[]>[] = [];
  const take = (page: RentalPage): void => {
    const defined = define(page);
    // Avoids an unhandled rejection if another page fails first.
    defined.catch(() => undefined);
    pages.push(defined);
  };

  const isCold = cache.isEmpty;
  const listing = listFrom({ offset, cursor }, limit, isCold);
  // A caller that asks for more than a page mostly has more rentals. Their number is not known yet.
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
