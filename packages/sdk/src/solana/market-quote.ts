import type { TransactionRequest } from '@agent-rental/contract';
import { subscriptionPriceLamports, type AccountName } from '@agent-rental/program-client';
import type { KnownParticulars } from './build-instructions.js';
import { apiError } from './chain-errors.js';
import type { MarketState } from './market-state.js';

/** An action that needs nobody's signature but the wallet's. */
export type DirectRequest = Exclude<TransactionRequest, { action: 'publish' }>;

/** What an action costs the wallet and brings it back, as the chain has it now. */
export interface MarketQuote {
  /** Leaves the wallet as a price or a deposit. */
  priceLamports: bigint;
  /** Accounts whose rent the wallet pays. */
  createdAccounts: readonly AccountName[];
  /** Comes back: earnings, or an unused balance. */
  returnedLamports?: bigint | undefined;
}

/**
 * Finds in the chain's state what an action's instructions hold beside its request, and what it costs.
 *
 * @throws ApiError `invalid_request` when a subscription's terms name no duration.
 */
export function planAction(
  request: DirectRequest,
  { listing, protocol, earningsLamports, balance }: MarketState,
): { particulars: KnownParticulars; quote: MarketQuote } {
  const { treasury } = protocol;
  const nothing: MarketQuote = { priceLamports: 0n, createdAccounts: [] };
  const agreed = (price: bigint, max: number | undefined) => (max === undefined ? price : BigInt(max));
  switch (request.action) {
    case 'rent': {
      const { rentalModel } = listing;
      const isPerQuery = rentalModel === 'per_query';
      const price =
        rentalModel === 'subscription' ? windowPrice(request.duration_seconds) : listing.priceLamports;
      const depositLamports = isPerQuery
        ? lamports(request.deposit_lamports, listing.minDepositLamports)
        : undefined;
      return {
        particulars: {
          rentalModel,
          treasury,
          depositLamports,
          maxPriceLamports: agreed(price, request.max_price_lamports),
        },
        quote: {
          priceLamports: depositLamports ?? price,
          createdAccounts: isPerQuery ? ['AccessCredential', 'PerQueryBalance'] : ['AccessCredential'],
        },
      };
    }
    case 'renew': {
      const price = windowPrice(request.duration_seconds);
      return {
        particulars: { treasury, maxPriceLamports: agreed(price, request.max_price_lamports) },
        quote: { ...nothing, priceLamports: price },
      };
    }
    case 'topup':
      return {
        particulars: { maxPriceLamports: agreed(listing.priceLamports, request.max_price_lamports) },
        quote: { ...nothing, priceLamports: BigInt(request.amount_lamports) },
      };
    case 'reclaim': {
      const returned = listing.status === 'closed' ? balance?.accountLamports : balance?.balanceLamports;
      return { particulars: {}, quote: { ...nothing, returnedLamports: returned } };
    }
    case 'close':
      return {
        particulars: { hasEarnings: earningsLamports > 0n },
        quote: { ...nothing, returnedLamports: earningsLamports },
      };
    case 'withdraw': {
      const returned = lamports(request.amount_lamports, earningsLamports);
      return { particulars: {}, quote: { ...nothing, returnedLamports: returned } };
    }
    case 'update':
    case 'pause':
    case 'resume':
      return { particulars: {}, quote: nothing };
    default:
      return request satisfies never;
  }

  function windowPrice(durationSeconds: number | undefined): bigint {
    if (durationSeconds === undefined) {
      throw apiError('invalid_request', 'duration_seconds is required: 2592000, 7776000 or 31536000.');
    }
    return subscriptionPriceLamports(listing.priceLamports, durationSeconds);
  }
}

function lamports(value: number | undefined, otherwise: bigint): bigint {
  return value === undefined ? otherwise : BigInt(value);
}
