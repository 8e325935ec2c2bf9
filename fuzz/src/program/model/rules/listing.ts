import type { Call } from '../call.js';
import { CODE, type Verdict } from '../errors.js';
import { createAccount, moveLamports } from '../lamports.js';
import { MAX_PRICE, MIN_PRICE, U64_MAX } from '../money.js';
import { addPause, NEVER_PAUSED } from '../pauses.js';
import { MODEL, STATE_SIZES, STATUS, type ListingState } from '../state.js';
import { isAuthority } from './roles.js';

const MAX_URI_BYTES = 200;

function priceRefusal(
  listing: Pick<ListingState, 'model' | 'price' | 'minDeposit'>,
  minQueryPrice: bigint,
): Verdict {
  const isPerQuery = listing.model === MODEL.perQuery;
  const floor = isPerQuery && minQueryPrice > MIN_PRICE ? minQueryPrice : MIN_PRICE;
  if (listing.price < floor) {
    return CODE.PriceTooLow;
  }
  if (listing.price > MAX_PRICE || listing.minDeposit > MAX_PRICE) {
    return CODE.ArithmeticOverflow;
  }
  return isPerQuery && listing.minDeposit < listing.price ? CODE.DepositTooLow : null;
}

function uriRefusal(uri: string): Verdict {
  return Buffer.byteLength(uri) > MAX_URI_BYTES ? CODE.MetadataUriTooLong : null;
}

/** Creates a listing and its escrow, co-signed by a hot key. */
export function createListing(call: Call): Verdict {
  const { protocol } = call;
  if (protocol.paused) {
    return CODE.ProtocolPaused;
  }
  if (!isAuthority(call, call.id('authority'))) {
    return CODE.Unauthorized;
  }
  const creator = call.id('creator');
  const asked = {
    model: Number(call.args['rental_model']),
    price: call.amount('price_lamports'),
    minDeposit: call.amount('min_deposit_lamports'),
  };
  const uri = call.text('metadata_uri');
  const listing: ListingState = {
    type: 'listing',
    creator,
    ...asked,
    minDeposit: asked.model === MODEL.perQuery ? asked.minDeposit : 0n,
    status: STATUS.active,
    pausedAt: 0n,
    latestExpiry: 0n,
    revision: 0n,
    createdAt: call.now,
    updatedAt: call.now,
    previousPrice: 0n,
    priceChangedAt: 0n,
    pauses: NEVER_PAUSED,
    id: call.text('listing_id'),
    uri,
  };
  return (
    createAccount(call, creator, listing, STATE_SIZES.listing) ??
    priceRefusal(asked, protocol.minQueryPrice) ??
    uriRefusal(uri) ??
    createAccount(
      call,
      creator,
      { type: 'escrow', listing: call.id('listing'), earnings: 0n, totalEarned: 0n },
      STATE_SIZES.escrow,
    )
  );
}

/** Changes, pauses or resumes a listing. */
export function updateListing(call: Call): Verdict {
  const listing = call.writeState('listing');
  if (call.id('creator') !== listing.creator) {
    return CODE.Unauthorized;
  }
  if (listing.status === STATUS.closed) {
    return CODE.ListingNotActive;
  }
  const price = call.optionalAmount('price_lamports');
  const minDeposit = call.optionalAmount('min_deposit_lamports');
  if (price !== null || minDeposit !== null) {
    const asked = {
      model: listing.model,
      price: price ?? listing.price,
      minDeposit: minDeposit ?? listing.minDeposit,
    };
    const refused = priceRefusal(asked, call.protocol.minQueryPrice);
    if (refused !== null) {
      return refused;
    }
    if (asked.price !== listing.price) {
      listing.previousPrice = listing.price;
      listing.priceChangedAt = call.now;
    }
    listing.price = asked.price;
    listing.minDeposit = listing.model === MODEL.perQuery ? asked.minDeposit : 0n;
  }
  if (call.args['metadata_uri'] !== null) {
    listing.uri = call.text('metadata_uri');
    const refused = uriRefusal(listing.uri);
    if (refused !== null) {
      return refused;
    }
  }
  const paused = call.args['paused'];
  if (paused === true && listing.status === STATUS.active) {
    listing.status = STATUS.paused;
    listing.pausedAt = call.now;
  } else if (paused === false && listing.status === STATUS.paused) {
    listing.pauses = addPause(listing.pauses, listing.pausedAt, call.now);
    listing.status = STATUS.active;
    listing.pausedAt = 0n;
  }
  if (listing.revision === U64_MAX) {
    return CODE.ArithmeticOverflow;
  }
  listing.revision += 1n;
  listing.updatedAt = call.now;
  return null;
}

/** Closes a listing for ever. */
export function closeListing(call: Call): Verdict {
  const listing = call.writeState('listing');
  if (call.id('creator') !== listing.creator) {
    return CODE.Unauthorized;
  }
  if (listing.status === STATUS.closed) {
    return CODE.ListingNotActive;
  }
  if (listing.latestExpiry > call.now) {
    return CODE.ActiveSubscribers;
  }
  if (call.escrow.earnings > 0n) {
    return CODE.EscrowNotEmpty;
  }
  listing.status = STATUS.closed;
  listing.pausedAt = 0n;
  listing.updatedAt = call.now;
  return null;
}

/** Pays earnings to the creator. */
export function withdrawEarnings(call: Call): Verdict {
  const creator = call.id('creator');
  if (creator !== call.listing.creator) {
    return CODE.Unauthorized;
  }
  const escrow = call.writeState('escrow');
  const amount = call.optionalAmount('amount_lamports') ?? escrow.earnings;
  if (amount > escrow.earnings) {
    return CODE.WithdrawalExceedsBalance;
  }
  if (amount === 0n) {
    return CODE.NothingToWithdraw;
  }
  escrow.earnings -= amount;
  return moveLamports(call, call.id('escrow'), creator, amount);
}
