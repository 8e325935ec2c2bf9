import { renewalOf, renewalRefusal, type Renewal, type TransactionRequestOf } from '@agent-rental/contract';
import { apiError } from '../send/chain-errors.js';
import type { MarketState } from './market-state.js';

/** The effect of a renewal by the chain's state. */
export function renewalNow(
  { duration_seconds: durationSeconds }: TransactionRequestOf<'renew'>,
  { nowSeconds, expiresAtSeconds }: Pick<MarketState, 'nowSeconds' | 'expiresAtSeconds'>,
): Renewal {
  return renewalOf({ nowSeconds, expiresAtSeconds, durationSeconds });
}

/** @throws ApiError `invalid_request` for a renewal that adds nothing or, without `early`, less than half of its window. */
export function requireEnough(
  { duration_seconds: durationSeconds, early }: TransactionRequestOf<'renew'>,
  renewal: Renewal,
): Renewal {
  const refusal = renewalRefusal(renewal, durationSeconds, early);
  if (refusal) throw apiError('invalid_request', refusal);
  return renewal;
}
