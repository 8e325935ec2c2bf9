import { RENTAL_TERMS, type TransactionRequest } from '@agent-rental/contract';
import { subscriptionPriceLamports } from '@agent-rental/program-client';
import type { KnownParticulars } from './build-instructions.js';
import { apiError } from '../send/chain-errors.js';
import type { MarketState } from './market-state.js';

/** An action that needs only the wallet's signature. */
export type DirectRequest = Exclude<TransactionRequest, { action: 'publish' }>;

/** The values of an action from the chain's state. */
interface ActionPlan {
  particulars: KnownParticulars;
  /** Lamports that return to the wallet: earnings, or an unused balance. */
  returnedLamports?: bigint | undefined;
}

/**
 * Finds the missing values of an action's instructions in the chain's state, and the returned lamports.
 *
 * @throws ApiError `invalid_request` if a subscription's terms name no duration.
 */
export function planAction(
  request: DirectRequest,
  { listing, protocol, earningsLamports, balance }: MarketState,
): ActionPlan {
  const { treasury } = protocol;
  const agreed = (price: bigint, max: number | undefined) => (max === undefined ? price : BigInt(max));
  switch (request.action) {
    case 'rent': {
      const { rentalModel } = listing;
      const price = RENTAL_TERMS[rentalModel].expires
        ? windowPrice(request.duration_seconds)
        : listing.priceLamports;
      const depositLamports = RENTAL_TERMS[rentalModel].isPrepaid
        ? lamports(request.deposit_lamports, listing.minDepositLamports)
        : undefined;
      const maxPriceLamports = agreed(price, request.max_price_lamports);
      return { particulars: { rentalModel, treasury, depositLamports, maxPriceLamports } };
    }
    case 'renew': {
      const price = windowPrice(request.duration_seconds);
      return { particulars: { treasury, maxPriceLamports: agreed(price, request.max_price_lamports) } };
    }
    case 'topup':
      return { particulars: { maxPriceLamports: agreed(listing.priceLamports, request.max_price_lamports) } };
    case 'reclaim': {
      const returned = listing.status === 'closed' ? balance?.accountLamports : balance?.balanceLamports;
      return { particulars: {}, returnedLamports: returned };
    }
    case 'close':
      return { particulars: { hasEarnings: earningsLamports > 0n }, returnedLamports: earningsLamports };
    case 'withdraw':
      return { particulars: {}, returnedLamports: lamports(request.amount_lamports, earningsLamports) };
    case 'update':
    case 'pause':
    case 'resume':
    case 'revoke':
      return { particulars: {} };
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
