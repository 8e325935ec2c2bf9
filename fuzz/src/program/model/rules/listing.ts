import type { Rules } from '../call.js';
import { when, type Verdict } from '../errors.js';
import { createAccount, moveLamports } from '../lamports.js';
import { MAX_PRICE, MIN_PRICE } from '../money.js';
import { addPause, NEVER_PAUSED } from '../pauses.js';
import { MODEL, STATUS, type StateOf } from '../state.js';
import { checkAuthority } from './protocol.js';

const MAX_URI_BYTES = 200;

function checkPrices(
  { model, price, minDeposit }: Pick<StateOf<'listing'>, 'model' | 'price' | 'minDeposit'>,
  minQueryPrice: bigint,
): Verdict {
  const isPerQuery = model === MODEL.perQuery;
  const floor = isPerQuery && minQueryPrice > MIN_PRICE ? minQueryPrice : MIN_PRICE;
  return (
    when(price < floor, 'PriceTooLow') ??
    when(price > MAX_PRICE || minDeposit > MAX_PRICE, 'ArithmeticOverflow') ??
    when(isPerQuery && minDeposit < price, 'DepositTooLow')
  );
}

function checkUri(uri: string): Verdict {
  return when(Buffer.byteLength(uri) > MAX_URI_BYTES, 'MetadataUriTooLong');
}

/** The stored minimum deposit. Only a Per-Task listing has one. */
function depositOf(model: number, minDeposit: bigint): bigint {
  return model === MODEL.perQuery ? minDeposit : 0n;
}

/** The changes of a listing by a pause or its end. */
function pauseChange(
  listing: StateOf<'listing'>,
  paused: boolean | null,
  now: bigint,
): Partial<StateOf<'listing'>> {
  if (paused === true && listing.status === STATUS.active) {
    return { status: STATUS.paused, pausedAt: now };
  }
  return paused === false && listing.status === STATUS.paused
    ? { status: STATUS.active, pausedAt: 0n, pauses: addPause(listing.pauses, listing.pausedAt, now) }
    : {};
}

/** The changes of a listing by the admin's decision. */
function suspensionChange(
  { status, pausedAt }: StateOf<'listing'>,
  suspended: boolean,
  now: bigint,
): Partial<StateOf<'listing'>> {
  if (suspended) {
    return { status: STATUS.suspended, pausedAt: status === STATUS.active ? now : pausedAt };
  }
  return status === STATUS.suspended ? { status: STATUS.paused } : {};
}

/** The rules about listings and their earnings. A hot key co-signs a new listing. A closed listing stays closed. */
export const LISTING_RULES: Rules<
  'create_listing' | 'update_listing' | 'close_listing' | 'moderate_listing' | 'withdraw_earnings'
> = {
  create_listing(call) {
    const { protocol, now } = call;
    const creator = call.id('creator');
    const model = call.arg<number>('rental_model', 0);
    const [price, minDeposit] = [
      call.arg<bigint>('price_lamports', 0n),
      call.arg<bigint>('min_deposit_lamports', 0n),
    ];
    const uri = call.arg<string>('metadata_uri', '');
    return (
      when(protocol.paused, 'ProtocolPaused') ??
      checkAuthority(call) ??
      createAccount(call, creator, {
        type: 'listing',
        creator,
        model,
        status: STATUS.active,
        price,
        minDeposit: depositOf(model, minDeposit),
        pausedAt: 0n,
        latestExpiry: 0n,
        revision: 0n,
        createdAt: now,
        updatedAt: now,
        previousPrice: 0n,
        priceChangedAt: 0n,
        pauses: NEVER_PAUSED,
        id: call.arg<string>('listing_id', ''),
        uri,
      }) ??
      checkPrices({ model, price, minDeposit }, protocol.minQueryPrice) ??
      checkUri(uri) ??
      createAccount(call, creator, {
        type: 'escrow',
        listing: call.id('listing'),
        earnings: 0n,
        totalEarned: 0n,
      })
    );
  },

  update_listing(call) {
    const { listing, now } = call;
    const asked = [
      call.arg<bigint | null>('price_lamports', null),
      call.arg<bigint | null>('min_deposit_lamports', null),
    ] as const;
    const [price, minDeposit] = [asked[0] ?? listing.price, asked[1] ?? listing.minDeposit];
    const uri = call.arg('metadata_uri', listing.uri);
    const paused = call.arg<boolean | null>('paused', null);
    const arePricesAsked = asked.some((each) => each !== null);
    const prices = { model: listing.model, price, minDeposit };
    return (
      when(call.id('creator') !== listing.creator, 'Unauthorized') ??
      when(listing.status === STATUS.closed, 'ListingNotActive') ??
      (arePricesAsked ? checkPrices(prices, call.protocol.minQueryPrice) : null) ??
      checkUri(uri) ??
      when(paused === false && listing.status === STATUS.suspended, 'ListingNotActive') ??
      call.change('listing', {
        price,
        minDeposit: depositOf(listing.model, minDeposit),
        ...(price === listing.price ? {} : { previousPrice: listing.price, priceChangedAt: now }),
        uri,
        ...pauseChange(listing, paused, now),
        revision: listing.revision + 1n,
        updatedAt: now,
      })
    );
  },

  close_listing(call) {
    const { listing, now } = call;
    return (
      when(call.id('creator') !== listing.creator, 'Unauthorized') ??
      when(listing.status === STATUS.closed, 'ListingNotActive') ??
      when(listing.latestExpiry > now, 'ActiveSubscribers') ??
      when(call.escrow.earnings > 0n, 'EscrowNotEmpty') ??
      call.change('listing', { status: STATUS.closed, pausedAt: 0n, updatedAt: now })
    );
  },

  moderate_listing(call) {
    const { listing, now } = call;
    return (
      when(call.id('admin') !== call.protocol.admin, 'Unauthorized') ??
      when(listing.status === STATUS.closed, 'ListingNotActive') ??
      call.change('listing', {
        ...suspensionChange(listing, call.arg<boolean>('suspended', false), now),
        updatedAt: now,
      })
    );
  },

  withdraw_earnings(call) {
    const creator = call.id('creator');
    const { earnings } = call.escrow;
    const amount = call.arg('amount_lamports', earnings);
    return (
      when(creator !== call.listing.creator, 'Unauthorized') ??
      when(amount > earnings, 'WithdrawalExceedsBalance') ??
      when(amount === 0n, 'NothingToWithdraw') ??
      call.change('escrow', { earnings: earnings - amount }) ??
      moveLamports(call, call.id('escrow'), creator, amount)
    );
  },
};
