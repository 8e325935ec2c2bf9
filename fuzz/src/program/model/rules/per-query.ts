import type { Call } from '../call.js';
import { CODE, type Verdict } from '../errors.js';
import { createAccount, systemTransfer } from '../lamports.js';
import { U64_MAX } from '../money.js';
import { MODEL, STATE_SIZES } from '../state.js';
import { checkAgreed, checkListingModel, checkOnSale, grant } from './sale.js';

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
