import type { Call } from '../call.js';
import { CODE, type Verdict } from '../errors.js';
import { createAccount, moveLamports, systemTransfer } from '../lamports.js';
import { DURATIONS, feeOf, I64_MAX, U64_MAX, windowCost } from '../money.js';
import { MODEL, STATE_SIZES, STATUS } from '../state.js';

/** Sales are on: neither the protocol nor the listing is paused. */
export function checkOnSale(call: Call): Verdict {
  if (call.protocol.paused) {
    return CODE.ProtocolPaused;
  }
  return call.listing.status === STATUS.active ? null : CODE.ListingNotActive;
}

/** The listing is rented in this way. */
export function checkListingModel(call: Call, model: number): Verdict {
  return call.listing.model === model ? null : CODE.InvalidAccessType;
}

/** The payer agreed to the price. */
export function checkAgreed(price: bigint, maxPrice: bigint): Verdict {
  return price > maxPrice ? CODE.PriceAboveLimit : null;
}

function checkDuration(duration: bigint): Verdict {
  return DURATIONS.includes(duration) ? null : CODE.InvalidDuration;
}

/** Creates the credential at the expense of the buyer. */
export function grant(call: Call, expiresAt: bigint): Verdict {
  const buyer = call.id('buyer');
  const { model } = call.listing;
  return createAccount(
    call,
    buyer,
    {
      type: 'access_credential',
      buyer,
      listing: call.id('listing'),
      model,
      valid: true,
      purchasedAt: call.now,
      expiresAt,
    },
    STATE_SIZES.access_credential,
  );
}

/** Books what the creator earned. */
export function earn(call: Call, lamports: bigint): Verdict {
  const escrow = call.writeState('escrow');
  escrow.earnings += lamports;
  escrow.totalEarned += lamports;
  return escrow.earnings > U64_MAX || escrow.totalEarned > U64_MAX ? CODE.ArithmeticOverflow : null;
}

/** The buyer pays the price: the fee out of it to the treasury, the rest to the escrow. */
function takePayment(call: Call, price: bigint): Verdict {
  const fee = feeOf(price, call.protocol.feeBps);
  return (
    earn(call, price - fee) ??
    systemTransfer(call, call.id('buyer'), call.id('escrow'), price) ??
    moveLamports(call, call.id('escrow'), call.id('treasury'), fee)
  );
}

/** Sells a permanent credential. */
export function purchaseOneTime(call: Call): Verdict {
  const { price } = call.listing;
  return (
    checkOnSale(call) ??
    checkListingModel(call, MODEL.oneTime) ??
    checkAgreed(price, call.amount('max_price_lamports')) ??
    grant(call, 0n) ??
    takePayment(call, price)
  );
}

function expiryAfter(call: Call, duration: bigint): bigint | null {
  const expiresAt = call.now + duration;
  return expiresAt > I64_MAX ? null : expiresAt;
}

function noteSubscription(call: Call, expiresAt: bigint): void {
  const listing = call.writeState('listing');
  if (expiresAt > listing.latestExpiry) {
    listing.latestExpiry = expiresAt;
  }
}

/** Sells a window of time. */
export function purchaseSubscription(call: Call): Verdict {
  const duration = call.amount('duration_seconds');
  const price = windowCost(call.listing.price, duration);
  const refused =
    checkOnSale(call) ??
    checkListingModel(call, MODEL.subscription) ??
    checkDuration(duration) ??
    checkAgreed(price, call.amount('max_price_lamports'));
  if (refused !== null) {
    return refused;
  }
  const expiresAt = expiryAfter(call, duration);
  if (expiresAt === null) {
    return CODE.ArithmeticOverflow;
  }
  noteSubscription(call, expiresAt);
  return grant(call, expiresAt) ?? takePayment(call, price);
}

/** Extends a subscription, counting from now. */
export function renewSubscription(call: Call): Verdict {
  const duration = call.amount('duration_seconds');
  const refused =
    checkOnSale(call) ??
    (call.credential.model === MODEL.subscription ? null : CODE.InvalidAccessType) ??
    checkDuration(duration);
  if (refused !== null) {
    return refused;
  }
  const expiresAt = expiryAfter(call, duration);
  if (expiresAt === null) {
    return CODE.ArithmeticOverflow;
  }
  if (expiresAt <= call.credential.expiresAt) {
    return CODE.InvalidDuration;
  }
  const price = windowCost(call.listing.price, duration);
  const tooDear = checkAgreed(price, call.amount('max_price_lamports'));
  if (tooDear !== null) {
    return tooDear;
  }
  call.writeState('access_credential').expiresAt = expiresAt;
  noteSubscription(call, expiresAt);
  return takePayment(call, price);
}
