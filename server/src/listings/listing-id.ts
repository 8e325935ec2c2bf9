import { randomInt } from 'node:crypto';
import { listingId } from '@agent-rental/contract';
import { ApiError } from '../errors/api-error.js';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const SUFFIX_LENGTH = 6;
const MAX_LENGTH = 32;

/** Makes a listing id of an agent's name: the name, cut to fit a 32-byte seed, and six random characters. */
export function newListingId(name: string): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => BASE32[randomInt(BASE32.length)]).join('');
  return `${name.slice(0, MAX_LENGTH - SUFFIX_LENGTH - 1).replace(/-+$/, '')}-${suffix}`;
}

/**
 * Checks the form of a listing id.
 *
 * @throws ApiError `invalid_listing_id`.
 */
export function parseListingId(text: string): string {
  const parsed = listingId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new ApiError(
    'invalid_listing_id',
    'The listing id is malformed; it looks like invoice-reader-k3x7qa and is at most 32 characters.',
  );
}
