import type { Principal } from './principal.js';

declare const isOfPrincipal: unique symbol;

/**
 * Whose runs, files and rentals a request is about. The login of a wallet sees everything of its wallet. An API key or
 * connected app sees the runs, files and jobs that it made, and the rentals that its policy names. Only {@link ownerOf} makes
 * one, so code that asks by a wallet alone does not compile.
 */
export interface Owner {
  readonly wallet: string;
  /** The API key or connected app; undefined for a login. */
  readonly apiKeyId: string | undefined;
  /** The only listings of a key's policy; undefined: any. */
  readonly listingIds: readonly string[] | undefined;
  readonly [isOfPrincipal]: true;
}

/** The owner that a caller is. */
export const ownerOf = ({ wallet, apiKey }: Principal): Owner =>
  ({ wallet, apiKeyId: apiKey?.id, listingIds: apiKey?.policy?.listing_ids }) as Owner;

/** The column, and its value, of the rows that an owner sees. A key belongs to one wallet. */
export const seenBy = ({ wallet, apiKeyId }: Owner): ['wallet' | 'api_key_id', string] =>
  apiKeyId === undefined ? ['wallet', wallet] : ['api_key_id', apiKeyId];
