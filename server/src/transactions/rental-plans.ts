import {
  REFUSAL_TEXT,
  renewalOf,
  renewalRefusal,
  type RentalModel,
  type TransactionRequestOf,
} from '@agent-rental/contract';
import {
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  reclaimableAt,
  reclaimReason,
  renewSubscription,
  revokePerQueryAccess,
  subscriptionPriceLamports,
  topupBalance,
  type AccessCredential,
} from '@agent-rental/program-client';
import { ApiError } from '../errors/api-error.js';
import type { Plan, PlanContext } from './plan.js';
import { ACCOUNTS_OF_RENTAL } from './rental-costs.js';

/**
 * Rents a listing.
 *
 * @throws ApiError when it takes no rentals, the wallet has rented it before, or the terms do not fit its model.
 */
export function rentPlan(context: PlanContext, terms: TransactionRequestOf<'rent'>): Plan {
  const { listing, credential } = context.state;
  requireOnSale(context);
  if (credential) {
    requireUnrevoked(credential);
    throw new ApiError('invalid_request', `This wallet has rented ${listing.listingId}.`, {
      next: AGAIN[listing.rentalModel],
    });
  }
  const message = `Rent ${listing.listingId}`;
  const common = commonInput(context);
  switch (listing.rentalModel) {
    case 'one_time': {
      const maxPriceLamports = agreedPrice(terms.max_price_lamports, listing.priceLamports);
      return {
        instructions: [purchaseOneTime({ ...common, maxPriceLamports })],
        message,
        priceLamports: listing.priceLamports,
        maxPriceLamports,
        createdAccounts: ACCOUNTS_OF_RENTAL.one_time,
      };
    }
    case 'subscription': {
      const durationSeconds = terms.duration_seconds;
      if (durationSeconds === undefined) {
        throw new ApiError('invalid_request', 'duration_seconds is required: 2592000, 7776000 or 31536000.');
      }
      const priceLamports = subscriptionPriceLamports(listing.priceLamports, durationSeconds);
      const maxPriceLamports = agreedPrice(terms.max_price_lamports, priceLamports);
      return {
        instructions: [purchaseSubscription({ ...common, durationSeconds, maxPriceLamports })],
        message,
        priceLamports,
        maxPriceLamports,
        createdAccounts: ACCOUNTS_OF_RENTAL.subscription,
      };
    }
    case 'per_query': {
      const depositLamports =
        terms.deposit_lamports === undefined ? listing.minDepositLamports : BigInt(terms.deposit_lamports);
      if (depositLamports < listing.minDepositLamports) {
        throw new ApiError('invalid_request', `deposit_lamports is at least ${listing.minDepositLamports}.`);
      }
      const maxPriceLamports = agreedPrice(terms.max_price_lamports, listing.priceLamports);
      return {
        instructions: [purchasePerQuery({ ...common, maxPriceLamports, depositLamports })],
        message,
        priceLamports: depositLamports,
        maxPriceLamports,
        createdAccounts: ACCOUNTS_OF_RENTAL.per_query,
      };
    }
    default:
      return listing.rentalModel satisfies never;
  }
}

/** Extends a subscription. @throws ApiError when there is none, or the renewal adds nothing or, without `early`, too little. */
export function renewPlan(context: PlanContext, terms: TransactionRequestOf<'renew'>): Plan {
  const { listing } = context.state;
  requireOnSale(context);
  requireModel(context, 'subscription');
  const { expiresAt } = requireCredential(context);
  const { duration_seconds: durationSeconds } = terms;
  const renewal = renewalOf({
    nowSeconds: Math.floor(context.now.getTime() / 1000),
    expiresAtSeconds: expiresAt === null ? null : Number(expiresAt),
    durationSeconds,
  });
  const refusal = renewalRefusal(renewal, durationSeconds, terms.early);
  if (refusal) throw new ApiError('invalid_request', refusal);
  const priceLamports = subscriptionPriceLamports(listing.priceLamports, durationSeconds);
  const maxPriceLamports = agreedPrice(terms.max_price_lamports, priceLamports);
  return {
    instructions: [renewSubscription({ ...commonInput(context), durationSeconds, maxPriceLamports })],
    message: `Renew ${listing.listingId}`,
    priceLamports,
    maxPriceLamports,
    renewal,
  };
}

/** Adds to a prepaid balance, and accepts a price per task. @throws ApiError when there is none. */
export function topupPlan(context: PlanContext, terms: TransactionRequestOf<'topup'>): Plan {
  const { listing } = context.state;
  requireOnSale(context);
  requireModel(context, 'per_query');
  requireCredential(context);
  const amountLamports = BigInt(terms.amount_lamports);
  const maxPriceLamports = agreedPrice(terms.max_price_lamports, listing.priceLamports);
  return {
    instructions: [topupBalance({ ...commonInput(context), amountLamports, maxPriceLamports })],
    message: `Top up ${listing.listingId}`,
    priceLamports: amountLamports,
    maxPriceLamports,
  };
}

/**
 * Takes a prepaid balance back. A closed listing returns it with the account's rent. The balance alone comes back from a
 * suspended listing, above the agreed maximum price, or once pauses within 30 days add up to 7 days.
 *
 * @throws ApiError when there is nothing, or not yet.
 */
export function reclaimPlan(context: PlanContext): Plan {
  const { listing, balance } = context.state;
  requireModel(context, 'per_query');
  requireCredential(context);
  if (!balance) throw new ApiError('invalid_request', 'There is no prepaid balance to take back.');
  const { wallet, programId } = context;
  const plan = {
    instructions: [
      revokePerQueryAccess({ revoker: wallet, buyer: wallet, listingId: listing.listingId, programId }),
    ],
    message: `Take back the balance of ${listing.listingId}`,
  };
  const now = BigInt(Math.floor(context.now.getTime() / 1000));
  const reason = reclaimReason(listing, balance, now);
  if (reason === 'closed') return { ...plan, returnedLamports: balance.accountLamports };
  if (reason === null) {
    const reclaimable = reclaimableAt(listing, balance, now);
    throw new ApiError(
      'invalid_request',
      reclaimable === null
        ? 'The listing is active. A balance comes back once it is closed or suspended, costs more than agreed, or was paused for 7 of the last 30 days.'
        : `The listing was not paused for 7 of the last 30 days yet: the balance can be taken back from ${isoTime(reclaimable)} on.`,
    );
  }
  if (balance.balanceLamports === 0n) throw new ApiError('invalid_request', 'The prepaid balance is empty.');
  return { ...plan, returnedLamports: balance.balanceLamports };
}

/** The way to continue a rental, in place of a second one. */
const AGAIN: Record<RentalModel, string> = {
  one_time: 'The credential is permanent.',
  subscription: 'Extend it with the action renew.',
  per_query: 'Add to its balance with the action topup.',
};

function commonInput({ wallet, treasury, programId, state }: PlanContext) {
  return { buyer: wallet, listingId: state.listing.listingId, treasury, programId };
}

/** The cap that the payer names, else the present price. @throws ApiError when the price is above it. */
function agreedPrice(maxPrice: number | undefined, priceLamports: bigint): bigint {
  if (maxPrice === undefined) return priceLamports;
  if (BigInt(maxPrice) < priceLamports) {
    throw new ApiError(
      'insufficient_balance',
      `The price is ${priceLamports} lamports, above the agreed maximum of ${maxPrice}.`,
    );
  }
  return BigInt(maxPrice);
}

function requireOnSale({ state, suspensionReason }: PlanContext): void {
  const { status } = state.listing;
  switch (status) {
    case 'active':
      return;
    case 'paused':
      throw new ApiError(
        'listing_paused',
        'The listing is paused and takes no new rentals, renewals or top-ups.',
      );
    case 'suspended':
      throw new ApiError('listing_suspended', REFUSAL_TEXT.listingSuspended(suspensionReason));
    case 'closed':
      throw new ApiError('listing_not_found', 'The listing is closed.');
    default:
      return status satisfies never;
  }
}

function requireModel({ state }: PlanContext, model: RentalModel): void {
  if (state.listing.rentalModel !== model) {
    throw new ApiError(
      'invalid_request',
      `The listing is ${state.listing.rentalModel}, this is for ${model}.`,
    );
  }
}

function requireCredential({ state }: PlanContext): AccessCredential {
  if (!state.credential) {
    throw new ApiError('credential_not_found', 'This wallet has not rented the listing.');
  }
  requireUnrevoked(state.credential);
  return state.credential;
}

function requireUnrevoked(credential: AccessCredential): void {
  if (!credential.valid) {
    throw new ApiError('credential_not_found', 'This wallet’s credential was revoked, for ever.');
  }
}

function isoTime(unixSeconds: bigint): string {
  return new Date(Number(unixSeconds) * 1000).toISOString();
}
