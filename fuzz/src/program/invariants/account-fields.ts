import type { ChainAccount } from '../world/chain.js';
import type { ListingFacts } from './listing-history.js';
import { isOfType } from '../model/state.js';

/** Offsets of the fields for held lamports, prices, pauses and tombstones. */
const EARNINGS_AT = 42;
const BALANCE_AT = 74;
const MAX_PRICE_AT = 82;
const LISTING_STATUS_AT = 43;
const LISTING_PRICE_AT = 44;
const LISTING_PAUSED_AT = 60;
const CREDENTIAL_VALID_AT = 75;
const PAUSED = 1;
const CLOSED = 2;
const SUSPENDED = 3;

function readU64({ data }: ChainAccount, at: number): bigint {
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(at, true);
}

/** The lamports that an account holds for a party, read from its fields. */
export function heldFor(account: ChainAccount): bigint {
  if (isOfType(account.data, 'escrow')) {
    return readU64(account, EARNINGS_AT);
  }
  return isOfType(account.data, 'per_query_balance') ? readU64(account, BALANCE_AT) : 0n;
}

/** The highest price that a balance's owner accepts; null without a balance. */
export function agreedPriceOf(account: ChainAccount | null): bigint | null {
  return account !== null && isOfType(account.data, 'per_query_balance')
    ? readU64(account, MAX_PRICE_AT)
    : null;
}

/** A listing's facts; null without a listing. */
export function factsOf(account: ChainAccount | null | undefined): ListingFacts | null {
  const status = account?.data[LISTING_STATUS_AT];
  return account && isOfType(account.data, 'listing')
    ? {
        isPaused: status === PAUSED || status === SUSPENDED,
        isSuspended: status === SUSPENDED,
        pausedAt: BigInt.asIntN(64, readU64(account, LISTING_PAUSED_AT)),
        price: readU64(account, LISTING_PRICE_AT),
      }
    : null;
}

/** Whether an account is a closed listing or a revoked credential. */
export function isTombstone({ data }: ChainAccount): boolean {
  return isOfType(data, 'listing')
    ? data[LISTING_STATUS_AT] === CLOSED
    : isOfType(data, 'access_credential') && data[CREDENTIAL_VALID_AT] === 0;
}
