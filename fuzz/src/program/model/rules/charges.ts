import type { Call } from '../call.js';
import { chargeOf, chargesIn, type Charge } from '../instruction-table.js';
import { chargeSequence } from '../charge-window.js';
import { CODE, ofCharge, type Verdict } from '../errors.js';
import { logCharge } from '../events.js';
import { moveLamports } from '../lamports.js';
import { feeOf, PREVIOUS_PRICE, U64_MAX } from '../money.js';
import { STATUS } from '../state.js';
import { checkChargeAccounts } from '../structure.js';
import { isAuthority } from './roles.js';
import { earn } from './sale.js';

/** The price before the last change, which was less than 15 minutes ago. */
function wasPriceLately({ listing, now }: Call, price: bigint): boolean {
  const { previousPrice, priceChangedAt } = listing;
  return price === previousPrice && priceChangedAt !== 0n && now - priceChangedAt < PREVIOUS_PRICE;
}

/** Charges a run at the price that it was admitted at. */
export function consumeQuery(call: Call): Verdict {
  return checkCharging(call) ?? take(call, chargeOf(call.args));
}

/** Charges several runs of one listing, each as if it came alone, or none. */
export function consumeQueries(call: Call): Verdict {
  const charges = chargesIn(call.args);
  const refused = checkCharging(call);
  if (refused !== null) {
    return refused;
  }
  const balances = new Set<number>();
  for (const [index, charge] of charges.entries()) {
    const [credential, balance] = call.behind.slice(2 * index);
    if (credential === undefined || balance === undefined) {
      return CODE.AccountNotEnoughKeys;
    }
    const refusal = checkChargeAccounts(call, credential, balance) ?? take(call, charge);
    if (refusal !== null) {
      return ofCharge(refusal, index + 1);
    }
    logCharge(call, charge);
    balances.add(balance.id);
  }
  if (charges.length === 0) {
    call.way = 'charges no run';
  } else if (charges.length > 1) {
    call.way ??=
      balances.size < charges.length ? 'charges one balance several times' : 'charges several balances';
  }
  return null;
}

/** Whether runs of the listing may be charged by the signer. */
function checkCharging(call: Call): Verdict {
  if (!isAuthority(call, call.id('authority'))) {
    return CODE.Unauthorized;
  }
  return call.listing.status === STATUS.closed ? CODE.ListingNotActive : null;
}

/** Takes the price of a run out of the balance. */
function take(call: Call, { sequence, price }: Charge): Verdict {
  const balance = call.writeState('per_query_balance');
  const charged = chargeSequence({ highest: balance.highest, bits: balance.window }, sequence);
  if (typeof charged === 'number') {
    return charged;
  }
  balance.highest = charged.highest;
  balance.window = charged.bits;
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
