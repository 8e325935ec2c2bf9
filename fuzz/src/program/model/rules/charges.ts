import type { Call, Rules } from '../call.js';
import { chargeSequence } from '../charge-window.js';
import { ofCharge, when, type Verdict } from '../errors.js';
import { logCharge } from '../events.js';
import { chargesIn, type Charge } from '../instruction-table.js';
import { moveLamports } from '../lamports.js';
import { feeOf, PREVIOUS_PRICE } from '../money.js';
import { STATUS } from '../state.js';
import { checkChargeAccounts } from '../structure.js';
import { checkAuthority } from './protocol.js';
import { earn } from './sale.js';

/** Checks that the signer may charge runs of the listing. */
function checkCharging(call: Call): Verdict {
  return checkAuthority(call) ?? when(call.listing.status === STATUS.closed, 'ListingNotActive');
}

/** Checks that a charge has the present price, or the previous one less than 15 minutes after the change. */
function checkPrice(call: Call, price: bigint): Verdict {
  const { price: present, previousPrice, priceChangedAt } = call.listing;
  if (price === present) {
    return null;
  }
  const isRecent = priceChangedAt !== 0n && call.now - priceChangedAt < PREVIOUS_PRICE;
  call.way = 'at the previous price';
  return when(price !== previousPrice || !isRecent, 'PriceChanged');
}

/** Takes the price of a run out of the balance. */
function take(call: Call, { sequence, price_lamports: price }: Charge): Verdict {
  const { balance, maxPrice, totalSpent } = call.balance;
  const charged = chargeSequence(call.balance.charged, sequence);
  if (typeof charged === 'string') {
    return charged;
  }
  const from = call.id('per_query_balance');
  const fee = feeOf(price, call.protocol.feeBps);
  return (
    checkPrice(call, price) ??
    when(price > maxPrice, 'PriceAboveLimit') ??
    when(price > balance, 'InsufficientBalance') ??
    call.change('per_query_balance', {
      balance: balance - price,
      totalSpent: totalSpent + price,
      charged,
    }) ??
    earn(call, price - fee) ??
    moveLamports(call, from, call.id('escrow'), price - fee) ??
    moveLamports(call, from, call.id('treasury'), fee)
  );
}

/** The rules about charges. Several charges of one listing follow the rules of single ones, and all succeed or none. */
export const CHARGE_RULES: Rules<'consume_query' | 'consume_queries'> = {
  consume_query(call) {
    const [charge] = chargesIn(call.args);
    return checkCharging(call) ?? (charge === undefined ? null : take(call, charge));
  },

  consume_queries(call) {
    const charges = chargesIn(call.args);
    const refused = checkCharging(call);
    if (refused !== null) {
      return refused;
    }
    const balances = new Set<number>();
    for (const [index, charge] of charges.entries()) {
      const [credential, balance] = call.behind.slice(2 * index);
      if (credential === undefined || balance === undefined) {
        return 'AccountNotEnoughKeys';
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
  },
};
