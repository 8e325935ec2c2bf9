import { type TransactionRequestOf, REFUSAL_TEXT, RENTAL_TERMS } from '@agent-rental/contract';
import {
  closeListing,
  createListing,
  protocolFeeLamports,
  revokePerQueryAccess,
  updateListing,
  withdrawEarnings,
} from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import type { AuthoritySigner } from '../chain/index.js';
import { ApiError } from '../errors/api-error.js';
import type { PublishableListing } from '../registration/index.js';
import type { Plan, PlanContext } from './plan.js';

/** Publishes a reviewed draft. The authority's signature says that it was reviewed. */
export function publishPlan(
  listing: PublishableListing,
  authority: AuthoritySigner,
  { programId, feeBps }: { programId: PublicKey; feeBps: number },
): Plan {
  return {
    instructions: [
      createListing({
        creator: new PublicKey(listing.creator),
        authority: authority.publicKey,
        listingId: listing.id,
        rentalModel: listing.rentalModel,
        priceLamports: listing.priceLamports,
        minDepositLamports: listing.minDepositLamports,
        metadataUri: listing.metadataUri,
        programId,
      }),
    ],
    coSigner: authority,
    message: `Publish ${listing.id}`,
    createdAccounts: ['Listing', 'Escrow'],
    earningsLamports: listing.priceLamports - protocolFeeLamports(listing.priceLamports, feeBps),
  };
}

/** Changes price, least deposit or metadata URI. @throws ApiError when nothing is changed or the values do not fit. */
export function updatePlan(context: PlanContext, changes: TransactionRequestOf<'update'>): Plan {
  const { listing } = requireOpen(context);
  const { price_lamports: price, min_deposit_lamports: deposit, metadata_uri: metadataUri } = changes;
  if (price === undefined && deposit === undefined && metadataUri === undefined) {
    throw new ApiError(
      'invalid_request',
      'Nothing to change: name price_lamports, min_deposit_lamports or metadata_uri.',
    );
  }
  const priceLamports = price === undefined ? undefined : BigInt(price);
  const minDepositLamports = deposit === undefined ? undefined : BigInt(deposit);
  const newPrice = priceLamports ?? listing.priceLamports;
  const newDeposit = minDepositLamports ?? listing.minDepositLamports;
  if (RENTAL_TERMS[listing.rentalModel].isPrepaid && newDeposit < newPrice) {
    throw new ApiError(
      'invalid_request',
      `min_deposit_lamports must be at least the price: it would be ${newDeposit}, the price ${newPrice}.`,
    );
  }
  return {
    instructions: [
      updateListing({ ...creatorInput(context), priceLamports, minDepositLamports, metadataUri }),
    ],
    message: `Update ${listing.listingId}`,
  };
}

/** Takes a listing off sale. @throws ApiError when it is off sale. */
export function pausePlan(context: PlanContext): Plan {
  const { listing } = requireOpen(context);
  if (listing.status !== 'active')
    throw new ApiError('invalid_request', `The listing is ${listing.status} already.`);
  return {
    instructions: [updateListing({ ...creatorInput(context), status: 'paused' })],
    message: `Pause ${listing.listingId}`,
  };
}

/** Puts a paused listing back on sale. @throws ApiError when it is on sale. */
export function resumePlan(context: PlanContext): Plan {
  const { listing } = requireOpen(context);
  if (listing.status === 'active') throw new ApiError('invalid_request', 'The listing is active already.');
  if (listing.status === 'suspended') {
    throw new ApiError('listing_suspended', REFUSAL_TEXT.listingSuspended(context.suspensionReason));
  }
  return {
    instructions: [updateListing({ ...creatorInput(context), status: 'active' })],
    message: `Resume ${listing.listingId}`,
  };
}

/** Withdraws the earnings and closes the listing for ever. @throws ApiError while a subscription is running. */
export function closePlan(context: PlanContext): Plan {
  const { listing, earningsLamports } = requireOpen(context);
  const { latestSubscriptionExpiry } = listing;
  if (latestSubscriptionExpiry > BigInt(Math.floor(context.now.getTime() / 1000))) {
    const end = new Date(Number(latestSubscriptionExpiry) * 1000).toISOString();
    throw new ApiError(
      'invalid_request',
      `A subscription runs until ${end}; the listing can be closed then. Pause it to sell no more.`,
    );
  }
  const input = creatorInput(context);
  return {
    instructions: [...(earningsLamports > 0n ? [withdrawEarnings(input)] : []), closeListing(input)],
    message: `Close ${listing.listingId} for ever`,
    returnedLamports: earningsLamports,
  };
}

/** Pays earnings out, also of a closed listing. @throws ApiError when there are not as many. */
export function withdrawPlan(context: PlanContext, terms: TransactionRequestOf<'withdraw'>): Plan {
  const { listing, earningsLamports } = requireOwn(context);
  if (earningsLamports === 0n) throw new ApiError('invalid_request', 'There are no earnings to withdraw.');
  const amountLamports = terms.amount_lamports === undefined ? undefined : BigInt(terms.amount_lamports);
  if (amountLamports !== undefined && amountLamports > earningsLamports) {
    throw new ApiError('invalid_request', `The earnings are ${earningsLamports} lamports.`);
  }
  return {
    instructions: [withdrawEarnings({ ...creatorInput(context), amountLamports })],
    message: `Withdraw earnings of ${listing.listingId}`,
    returnedLamports: amountLamports ?? earningsLamports,
  };
}

/**
 * Ends a buyer's Per-Task rental for ever; its balance and rent go back to the buyer.
 *
 * @throws ApiError when the listing is another creator's, or the buyer has no such rental.
 */
export function revokePlan(context: PlanContext, { buyer }: TransactionRequestOf<'revoke'>): Plan {
  const { listing, credential, balance } = requireOwn(context);
  if (!RENTAL_TERMS[listing.rentalModel].isPrepaid) {
    throw new ApiError(
      'invalid_request',
      `The listing is ${listing.rentalModel}: a creator ends Per-Task rentals alone.`,
    );
  }
  if (!credential) throw new ApiError('credential_not_found', 'This buyer has not rented the listing.');
  if (!credential.valid || !balance) {
    throw new ApiError('credential_not_found', 'This buyer’s rental was revoked, for ever.');
  }
  const { wallet, programId } = context;
  return {
    instructions: [
      revokePerQueryAccess({
        revoker: wallet,
        buyer: new PublicKey(buyer),
        listingId: listing.listingId,
        programId,
      }),
    ],
    message: `End the rental of ${buyer}, and return ${balance.accountLamports} lamports to it`,
  };
}

function creatorInput({ wallet, programId, state }: PlanContext) {
  return { creator: wallet, listingId: state.listing.listingId, programId };
}

function requireOwn({ wallet, state }: PlanContext): PlanContext['state'] {
  if (!state.listing.creator.equals(wallet)) {
    throw new ApiError('listing_not_found', 'You have no such listing: it is another creator’s.');
  }
  return state;
}

function requireOpen(context: PlanContext): PlanContext['state'] {
  const state = requireOwn(context);
  if (state.listing.status === 'closed') {
    throw new ApiError('listing_not_found', 'The listing is closed, for ever.');
  }
  return state;
}
