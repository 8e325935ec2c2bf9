import type { Call, Rules } from '../call.js';
import { when, type Verdict } from '../errors.js';
import { createAccount, moveLamports, systemTransfer } from '../lamports.js';
import { DURATIONS, feeOf, I64_MAX, windowCost } from '../money.js';
import { MODEL, STATUS } from '../state.js';
import { checkAuthority } from './protocol.js';

/** Checks that neither the protocol nor the listing is paused. */
function checkOnSale({ protocol, listing }: Call): Verdict {
  return (
    when(protocol.paused, 'ProtocolPaused') ?? when(listing.status !== STATUS.active, 'ListingNotActive')
  );
}

/** Checks that the payer agreed to the price. */
function checkAgreed(call: Call, price: bigint): Verdict {
  return when(price > call.arg<bigint>('max_price_lamports', 0n), 'PriceAboveLimit');
}

const EMPTY_BALANCE = {
  type: 'per_query_balance',
  balance: 0n,
  maxPrice: 0n,
  totalDeposited: 0n,
  totalSpent: 0n,
  charged: [],
} as const;

/** Creates the credential at the expense of the payer. */
function grant(call: Call, expiresAt: bigint, payer = call.id('buyer')): Verdict {
  const [buyer, listing] = [call.id('buyer'), call.id('listing')];
  const { model } = call.listing;
  const times = { purchasedAt: call.now, expiresAt };
  return createAccount(call, payer, {
    type: 'access_credential',
    buyer,
    listing,
    model,
    valid: true,
    ...times,
  });
}

/** Books the creator's earnings. */
export function earn(call: Call, lamports: bigint): Verdict {
  const { earnings, totalEarned } = call.escrow;
  return call.change('escrow', { earnings: earnings + lamports, totalEarned: totalEarned + lamports });
}

/** Takes the price from the buyer: the fee goes to the treasury, and the rest to the escrow. */
function takePayment(call: Call, price: bigint): Verdict {
  const fee = feeOf(price, call.protocol.feeBps);
  return (
    earn(call, price - fee) ??
    systemTransfer(call, call.id('buyer'), call.id('escrow'), price) ??
    moveLamports(call, call.id('escrow'), call.id('treasury'), fee)
  );
}

function noteSubscription(call: Call, expiresAt: bigint): Verdict {
  const { latestExpiry } = call.listing;
  return call.change('listing', { latestExpiry: expiresAt > latestExpiry ? expiresAt : latestExpiry });
}

/** The rules about purchases. A renewal counts from now. A top-up replaces the agreed price. */
export const SALE_RULES: Rules<
  | 'purchase_one_time'
  | 'purchase_subscription'
  | 'renew_subscription'
  | 'purchase_per_query'
  | 'topup_balance'
  | 'fund_balance'
> = {
  purchase_one_time(call) {
    const { price, model } = call.listing;
    return (
      checkOnSale(call) ??
      when(model !== MODEL.oneTime, 'InvalidAccessType') ??
      checkAgreed(call, price) ??
      grant(call, 0n) ??
      takePayment(call, price)
    );
  },

  purchase_subscription(call) {
    const duration = call.arg<bigint>('duration_seconds', 0n);
    const expiresAt = call.now + duration;
    const price = windowCost(call.listing.price, duration);
    return (
      checkOnSale(call) ??
      when(call.listing.model !== MODEL.subscription, 'InvalidAccessType') ??
      when(!DURATIONS.includes(duration), 'InvalidDuration') ??
      checkAgreed(call, price) ??
      when(expiresAt > I64_MAX, 'ArithmeticOverflow') ??
      noteSubscription(call, expiresAt) ??
      grant(call, expiresAt) ??
      takePayment(call, price)
    );
  },

  renew_subscription(call) {
    const duration = call.arg<bigint>('duration_seconds', 0n);
    const expiresAt = call.now + duration;
    const price = windowCost(call.listing.price, duration);
    return (
      checkOnSale(call) ??
      when(call.credential.model !== MODEL.subscription, 'InvalidAccessType') ??
      when(!DURATIONS.includes(duration), 'InvalidDuration') ??
      when(expiresAt > I64_MAX, 'ArithmeticOverflow') ??
      when(expiresAt <= call.credential.expiresAt, 'InvalidDuration') ??
      checkAgreed(call, price) ??
      call.change('access_credential', { expiresAt }) ??
      noteSubscription(call, expiresAt) ??
      takePayment(call, price)
    );
  },

  purchase_per_query(call) {
    const [buyer, listing] = [call.id('buyer'), call.id('listing')];
    const { price, model, minDeposit } = call.listing;
    const deposit = call.arg<bigint>('deposit_lamports', 0n);
    const maxPrice = call.arg<bigint>('max_price_lamports', 0n);
    const booked = { balance: deposit, maxPrice, totalDeposited: deposit };
    return (
      checkOnSale(call) ??
      when(model !== MODEL.perQuery, 'InvalidAccessType') ??
      checkAgreed(call, price) ??
      when(deposit < minDeposit, 'DepositTooLow') ??
      grant(call, 0n) ??
      createAccount(call, buyer, { ...EMPTY_BALANCE, buyer, listing, ...booked }, deposit)
    );
  },

  topup_balance(call) {
    const amount = call.arg<bigint>('amount_lamports', 0n);
    const { balance, totalDeposited } = call.balance;
    return (
      checkOnSale(call) ??
      checkAgreed(call, call.listing.price) ??
      call.change('per_query_balance', {
        balance: balance + amount,
        totalDeposited: totalDeposited + amount,
        maxPrice: call.arg<bigint>('max_price_lamports', 0n),
      }) ??
      systemTransfer(call, call.id('buyer'), call.id('per_query_balance'), amount)
    );
  },

  fund_balance(call) {
    const [buyer, listing, payer] = [call.id('buyer'), call.id('listing'), call.id('payer')];
    const { price, model, minDeposit } = call.listing;
    const amount = call.arg<bigint>('amount_lamports', 0n);
    const isNew = call.draft.read(call.id('access_credential')).owner !== call.universe.program;
    const open = (): Verdict =>
      grant(call, 0n, payer) ?? createAccount(call, payer, { ...EMPTY_BALANCE, buyer, listing }, amount);
    const book = (): Verdict => {
      const { balance, totalDeposited, maxPrice } = call.balance;
      return call.change('per_query_balance', {
        balance: balance + amount,
        totalDeposited: totalDeposited + amount,
        maxPrice: maxPrice > price ? maxPrice : price,
      });
    };
    return (
      when(call.protocol.paused, 'ProtocolPaused') ??
      checkAuthority(call) ??
      when(call.listing.status !== STATUS.active, 'ListingNotActive') ??
      when(model !== MODEL.perQuery, 'InvalidAccessType') ??
      checkAgreed(call, price) ??
      when(amount < (isNew ? minDeposit : price), 'DepositTooLow') ??
      (isNew ? open() : systemTransfer(call, payer, call.id('per_query_balance'), amount)) ??
      book()
    );
  },
};
