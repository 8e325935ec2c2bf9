import { RENTAL_TERMS, type TransactionRequest } from '@agent-rental/contract';
import { subscriptionPriceLamports } from '@agent-rental/program-client';
import type { KnownParticulars } from './build-instructions.js';
import { apiError } from '../send/chain-errors.js';
import type { DecodedQuote } from '../verify/wallet-spend.js';
import type { MarketState } from './market-state.js';
import { renewalNow, requireEnough } from './renewal.js';

/** An action that needs only the wallet's signature. */
export type DirectRequest = Exclude<TransactionRequest, { action: 'publish' }>;

/** The values of an action from the chain's state. */
interface ActionPlan {
  particulars: KnownParticulars;
  /** The effect beside the costs: lamports that return to the wallet, or the time that a renewal adds. */
  effect?: Effect | undefined;
}

/** The parts of a quote that the transaction's bytes do not tell. */
export type Effect = Pick<DecodedQuote, 'returned_lamports' | 'new_expires_at' | 'added_seconds'>;

/**
 * Finds the missing values of an action's instructions and its effect in the chain's state.
 *
 * @throws ApiError `invalid_request` if a subscription's terms name no duration, or a renewal adds too little.
 */
export function planAction(request: DirectRequest, state: MarketState): ActionPlan {
  const { listing, protocol, earningsLamports, balance } = state;
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
      return {
        particulars: { treasury, maxPriceLamports: agreed(price, request.max_price_lamports) },
        effect: requireEnough(request, renewalNow(request, state)),
      };
    }
    case 'topup':
      return {
        particulars: { maxPriceLamports: agreed(listing.priceLamports, request.max_price_lamports) },
      };
    case 'reclaim': {
      const returned = listing.status === 'closed' ? balance?.accountLamports : balance?.balanceLamports;
      return { particulars: {}, effect: returning(returned) };
    }
    case 'close':
      return { particulars: { hasEarnings: earningsLamports > 0n }, effect: returning(earningsLamports) };
    case 'withdraw':
      return {
        particulars: {},
        effect: returning(lamports(request.amount_lamports, earningsLamports)),
      };
    case 'update':
    case 'pause':
    case 'resume':
    case 'revoke':
    case 'moderate':
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

function returning(lamportsBack: bigint | undefined): Effect | undefined {
  return lamportsBack === undefined ? undefined : { returned_lamports: Number(lamportsBack) };
}

function lamports(value: number | undefined, otherwise: bigint): bigint {
  return value === undefined ? otherwise : BigInt(value);
}
