import type { Call } from '../call.js';
import { chargeSequence } from '../charge-window.js';
import { CODE, type Verdict } from '../errors.js';
import { createAccount, moveLamports, systemTransfer } from '../lamports.js';
import { feeOf, PREVIOUS_PRICE, U64_MAX } from '../money.js';
import { MODEL, STATE_SIZES, STATUS } from '../state.js';
import { isAuthority } from './roles.js';
import { checkAgreed, checkListingModel, checkOnSale, earn, grant } from './sale.js';

/** Opens a prepaid balance. */
export function purchasePerQuery(call: Call): Verdict {
  const deposit = call.amount('deposit_lamports');
  const maxPrice = call.amount('max_price_lamports');
  return (
    checkOnSale(call) ??
    checkListingModel(call, MODEL.perQuery) ??
    checkAgreed(call.listing.price, maxPrice) ??
    (deposit < call.listing.minDeposit ? CODE.DepositTooLow : null) ??
    grant(call, 0n) ??
    createAccount(
      call,
      call.id('buyer'),
      {
        type: 'per_query_balance',
        buyer: call.id('buyer'),
        listing: call.id('listing'),
        balance: deposit,
        maxPrice,
        totalDeposited: deposit,
        totalSpent: 0n,
        highest: 0n,
        window: 0n,
      },
      STATE_SIZES.per_query_balance,
      deposit,
    )
  );
}

/** Adds to a prepaid balance, and replaces the price that the buyer agrees to. */
export function topupBalance(call: Call): Verdict {
  const amount = call.amount('amount_lamports');
  const maxPrice = call.amount('max_price_lamports');
  const refused = checkOnSale(call) ?? checkAgreed(call.listing.price, maxPrice);
  if (refused !== null) {
    return refused;
  }
  const balance = call.writeState('per_query_balance');
  balance.balance += amount;
  balance.totalDeposited += amount;
  balance.maxPrice = maxPrice;
  if (balance.balance > U64_MAX || balance.totalDeposited > U64_MAX) {
    return CODE.ArithmeticOverflow;
  }
  return systemTransfer(call, call.id('buyer'), call.id('per_query_balance'), amount);
}

/** The price before the last change, which was less than 15 minutes ago. */
function wasPriceLately({ listing, now }: Call, price: bigint): boolean {
  const { previousPrice, priceChangedAt } = listing;
  return price === previousPrice && priceChangedAt !== 0n && now - priceChangedAt < PREVIOUS_PRICE;
}

/** Charges a run at the price that it was admitted at. */
export function consumeQuery(call: Call): Verdict {
  if (!isAuthority(call, call.id('authority'))) {
    return CODE.Unauthorized;
  }
  if (call.listing.status === STATUS.closed) {
    return CODE.ListingNotActive;
  }
  const balance = call.writeState('per_query_balance');
  const charged = chargeSequence({ highest: balance.highest, bits: balance.window }, call.amount('sequence'));
  if (typeof charged === 'number') {
    return charged;
  }
  balance.highest = charged.highest;
  balance.window = charged.bits;
  const price = call.amount('price_lamports');
  if (price !== call.listing.price) {
    if (!wasPriceLately(call, price)) {
      return CODE.PriceChanged;
    }
    call.way = 'at the previous price';
  }
  if (price > balance.maxPrice) {
    return CODE.PriceAboveLimit;
  }
  if (price > balance.balance) {
    return CODE.InsufficientBalance;
  }
  balance.balance -= price;
  balance.totalSpent += price;
  if (balance.totalSpent > U64_MAX) {
    return CODE.ArithmeticOverflow;
  }
  const fee = feeOf(price, call.protocol.feeBps);
  const from = call.id('per_query_balance');
  return (
    earn(call, price - fee) ??
    moveLamports(call, from, call.id('escrow'), price - fee) ??
    moveLamports(call, from, call.id('treasury'), fee)
  );
}
