import type { InstructionName } from '../model/instruction-table.js';
import { DURATIONS, MAX_FEE_BPS, U64_MAX, windowCost } from '../model/money.js';
import { MODEL, STATUS } from '../model/state.js';
import type { Random } from '@agent-rental/test/support/random';
import { LISTING_IDS, type AddressId } from '../world/universe.js';
import { allowedPrice, amountNear, clamp, duration } from './amounts.js';
import { consumeQueries, consumeQuery } from './charges.js';
import { accountsOf, hotKey, isRented, perQueryRental, type Intention } from './rentals.js';
import type { View } from './view.js';

/** Makes up one intention per instruction. */
export const INTENTIONS: Record<InstructionName, (view: View, random: Random) => Intention> = {
  initialize_protocol: initializeProtocol,
  update_protocol: updateProtocol,
  create_listing: createListing,
  update_listing: updateListing,
  close_listing: closeListing,
  purchase_one_time: purchaseOneTime,
  purchase_subscription: purchaseSubscription,
  purchase_per_query: purchasePerQuery,
  renew_subscription: renewSubscription,
  topup_balance: topupBalance,
  consume_query: consumeQuery,
  consume_queries: consumeQueries,
  revoke_access: revokeAccess,
  revoke_per_query_access: revokePerQueryAccess,
  withdraw_earnings: withdrawEarnings,
  verify_access: verifyAccess,
};

function feeBps(random: Random): number {
  return random.chance(80) ? random.below(MAX_FEE_BPS + 1) : random.pick([0, 250, 1_000, 1_001, 65_535]);
}

function priceFloor(random: Random): bigint {
  return random.chance(85) ? random.pick([1_000n, 200_000n, 5_000_000n]) : amountNear(random, 1_000n);
}

function initializeProtocol(view: View, random: Random): Intention {
  const { universe } = view;
  const { wallets } = universe;
  return {
    accounts: {
      upgrade_authority: wallets.upgradeAuthority,
      protocol: universe.protocol,
      program_data: universe.programData,
      treasury: random.chance(70) ? wallets.treasury : random.pick([wallets.pauper, ...universe.hostile]),
      system_program: universe.systemProgram,
    },
    args: {
      admin: universe.key(wallets.admin),
      authority: universe.key(wallets.authority),
      fee_bps: feeBps(random),
      min_query_price_lamports: priceFloor(random),
    },
  };
}

function updateProtocol(view: View, random: Random): Intention {
  const { universe, protocol } = view;
  const { wallets } = universe;
  const someone = (...ids: AddressId[]): Uint8Array | null =>
    random.chance(20) ? universe.key(random.pick(ids)) : null;
  const isHandOverOpen = protocol !== null && protocol.pendingAdmin !== universe.systemProgram;
  const signer =
    isHandOverOpen && random.chance(40) ? protocol.pendingAdmin : (protocol?.admin ?? wallets.admin);
  return {
    accounts: {
      admin: signer,
      protocol: universe.protocol,
      new_treasury: random.chance(70)
        ? universe.program
        : random.pick([wallets.treasury, wallets.secondTreasury, ...universe.escrows, ...universe.hostile]),
    },
    args: {
      pending_admin: someone(wallets.admin, wallets.secondAdmin, universe.systemProgram),
      authority: someone(wallets.authority, wallets.secondAuthority),
      next_authority: someone(wallets.secondAuthority, universe.systemProgram),
      fee_bps: random.chance(30) ? feeBps(random) : null,
      min_query_price_lamports: random.chance(20) ? priceFloor(random) : null,
      // Mostly running: a paused protocol refuses half of the instructions.
      paused: protocol?.paused === true ? random.chance(20) : random.chance(12) ? true : null,
    },
  };
}

function uri(random: Random): string {
  const length = random.chance(70) ? random.below(60) : random.pick([0, 199, 200, 201, 202, 300]);
  return 'u'.repeat(length);
}

function createListing(view: View, random: Random): Intention {
  const { universe, protocol } = view;
  const vacant = universe.listings.filter((listing) => view.listing(listing) === null);
  const listing = random.pick(vacant.length > 0 && random.chance(90) ? vacant : universe.listings);
  const model = random.below(3);
  const floor = model === MODEL.perQuery ? (protocol?.minQueryPrice ?? 1_000n) : 1_000n;
  const price = random.chance(80) ? allowedPrice(random, floor) : amountNear(random, floor);
  const minDeposit = random.chance(80)
    ? clamp(price + BigInt(random.below(9)) * price)
    : amountNear(random, price);
  return {
    accounts: {
      ...accountsOf(view, listing, universe.wallets.buyer),
      creator: random.pick([
        universe.wallets.creator,
        universe.wallets.secondCreator,
        universe.wallets.buyer,
      ]),
      authority: hotKey(view, random),
    },
    args: {
      listing_id: LISTING_IDS[universe.listings.indexOf(listing)] ?? '',
      rental_model: model,
      price_lamports: price,
      min_deposit_lamports: minDeposit,
      metadata_uri: uri(random),
    },
  };
}

function updateListing(view: View, random: Random): Intention {
  const id = random.pick(view.listings(({ status }) => status !== STATUS.closed));
  const listing = view.listing(id);
  const isPerQuery = listing?.model === MODEL.perQuery;
  const floor = isPerQuery ? (view.protocol?.minQueryPrice ?? 1_000n) : 1_000n;
  const price = random.chance(50)
    ? nearbyPrice(random, listing?.price ?? floor, listing?.previousPrice ?? floor)
    : random.chance(50)
      ? allowedPrice(random, floor)
      : amountNear(random, floor);
  const isPriced = random.chance(30);
  return {
    accounts: accountsOf(view, id, view.universe.wallets.buyer),
    args: {
      price_lamports: isPriced ? price : null,
      min_deposit_lamports:
        isPriced || random.chance(10) ? amountNear(random, price, clamp(price * 2n)) : null,
      metadata_uri: random.chance(25) ? uri(random) : null,
      paused: paused(random, listing?.status === STATUS.paused),
    },
  };
}

/** A price that renters can afford at both sides of its change: the same, back, a little more or less. */
function nearbyPrice(random: Random, price: bigint, previous: bigint): bigint {
  return clamp(
    random.pick([price, previous, price + 1n, price - 1n, price + price / 8n, price - price / 8n]),
  );
}

/** Pauses now and then, resumes soon; sometimes what is so already. */
function paused(random: Random, isPaused: boolean): boolean | null {
  const roll = random.below(100);
  if (isPaused) {
    return roll < 30 ? false : roll < 45 ? true : null;
  }
  return roll < 22 ? true : roll < 30 ? false : null;
}

function closeListing(view: View, random: Random): Intention {
  const { ledger } = view;
  const listing = random.pick(
    view.listings(
      (state, id) =>
        state.status !== STATUS.closed &&
        (random.chance(12) || (state.latestExpiry <= ledger.now && (view.escrow(id)?.earnings ?? 0n) <= 1n)),
    ),
  );
  return { accounts: accountsOf(view, listing, view.universe.wallets.buyer), args: {} };
}

/** A listing of a rental model that is on sale, and a wallet without a credential of it. */
function sale(view: View, random: Random, model: number): { listing: AddressId; buyer: AddressId } {
  const left = view.universe.listings.filter((id) =>
    view.universe.walletIds.some((wallet) => hasExpired(view, wallet, id)),
  );
  if (left.length > 0 && random.chance(3)) {
    const former = random.pick(left);
    return { listing: former, buyer: random.pick(view.holders(former, () => true)) };
  }
  const listing = random.pick(
    view.listings((state) => random.chance(8) || (state.model === model && state.status === STATUS.active)),
  );
  const formers = view.universe.walletIds.filter((wallet) => hasExpired(view, wallet, listing));
  if (formers.length > 0 && random.chance(10)) {
    return { listing, buyer: random.pick(formers) };
  }
  const newcomers = view.universe.walletIds.filter((wallet) => view.credential(wallet, listing) === null);
  const isNew = newcomers.length > 0 && random.chance(88);
  return { listing, buyer: random.pick(isNew ? newcomers : view.universe.walletIds) };
}

function hasExpired(view: View, wallet: AddressId, listing: AddressId): boolean {
  const credential = view.credential(wallet, listing);
  return credential?.model === MODEL.subscription && credential.expiresAt <= view.ledger.now;
}

/** What a buyer agrees to: mostly enough. */
function agreed(random: Random, price: bigint): bigint {
  return random.chance(85) ? random.pick([price, clamp(price * 2n), U64_MAX]) : amountNear(random, price);
}

function purchaseOneTime(view: View, random: Random): Intention {
  const { listing, buyer } = sale(view, random, MODEL.oneTime);
  const price = view.listing(listing)?.price ?? 0n;
  return { accounts: accountsOf(view, listing, buyer), args: { max_price_lamports: agreed(random, price) } };
}

function purchaseSubscription(view: View, random: Random): Intention {
  const { listing, buyer } = sale(view, random, MODEL.subscription);
  const seconds = duration(random);
  const price = windowCost(view.listing(listing)?.price ?? 0n, seconds);
  return {
    accounts: accountsOf(view, listing, buyer),
    args: { duration_seconds: seconds, max_price_lamports: agreed(random, clamp(price)) },
  };
}

function renewSubscription(view: View, random: Random): Intention {
  const { ledger } = view;
  const listing = random.pick(
    view.listings(
      (state, id) =>
        state.model === MODEL.subscription &&
        (random.chance(5) || (state.status === STATUS.active && isRented(view, id))),
    ),
  );
  const buyer = random.pick(view.holders(listing, ({ valid }) => valid || random.chance(10)));
  const expiresAt = view.credential(buyer, listing)?.expiresAt ?? 0n;
  const longer = DURATIONS.filter((seconds) => ledger.now + seconds > expiresAt);
  const seconds = longer.length > 0 && random.chance(80) ? random.pick(longer) : duration(random);
  const price = windowCost(view.listing(listing)?.price ?? 0n, seconds);
  return {
    accounts: accountsOf(view, listing, buyer),
    args: { duration_seconds: seconds, max_price_lamports: agreed(random, clamp(price)) },
  };
}

function purchasePerQuery(view: View, random: Random): Intention {
  const { listing, buyer } = sale(view, random, MODEL.perQuery);
  const state = view.listing(listing);
  const [price, minDeposit] = [state?.price ?? 0n, state?.minDeposit ?? 0n];
  const deposit = random.chance(85)
    ? clamp(minDeposit * BigInt(1 + random.below(20)))
    : amountNear(random, minDeposit);
  return {
    accounts: accountsOf(view, listing, buyer),
    args: { deposit_lamports: deposit, max_price_lamports: agreed(random, price) },
  };
}

function topupBalance(view: View, random: Random): Intention {
  const { listing, buyer } = perQueryRental(view, random, STATUS.active);
  const price = view.listing(listing)?.price ?? 0n;
  const room = U64_MAX - (view.balance(buyer, listing)?.totalDeposited ?? 0n);
  return {
    accounts: accountsOf(view, listing, buyer),
    args: {
      amount_lamports: random.chance(75)
        ? clamp(price * BigInt(random.below(12)))
        : amountNear(random, price, room),
      max_price_lamports: agreed(random, price),
    },
  };
}

function revokeAccess(view: View, random: Random): Intention {
  const listing = random.pick(
    view.listings(({ model }, id) => random.chance(5) || (model !== MODEL.perQuery && isRented(view, id))),
  );
  const buyer = random.pick(view.holders(listing, ({ valid }) => valid || random.chance(10)));
  return { accounts: accountsOf(view, listing, buyer), args: {} };
}

function revokePerQueryAccess(view: View, random: Random): Intention {
  const { listing, buyer } = perQueryRental(view, random, STATUS.active, STATUS.paused, STATUS.closed);
  const accounts = accountsOf(view, listing, buyer);
  const { admin = 0, creator = 0 } = accounts;
  const status = view.listing(listing)?.status;
  // Admin and creator end what they touch, and most of what a buyer may do comes of patience.
  const isBuyers = status === STATUS.active ? random.chance(60) : random.chance(85);
  const revoker = isBuyers ? buyer : random.pick([admin, creator, buyer]);
  return { accounts: { ...accounts, revoker }, args: {} };
}

function withdrawEarnings(view: View, random: Random): Intention {
  const listing = random.pick(
    view.listings((_, id) => random.chance(10) || (view.escrow(id)?.earnings ?? 0n) > 0n),
  );
  const earnings = view.escrow(listing)?.earnings ?? 0n;
  const part = random.chance(50)
    ? earnings / BigInt(1 + random.below(4))
    : amountNear(random, earnings, clamp(earnings - 1n));
  return {
    accounts: accountsOf(view, listing, view.universe.wallets.buyer),
    args: { amount_lamports: random.chance(50) ? null : part },
  };
}

function verifyAccess(view: View, random: Random): Intention {
  const { universe } = view;
  const listing = random.pick(universe.listings);
  const buyer = random.pick(random.chance(80) ? view.holders(listing, () => true) : universe.walletIds);
  return {
    accounts: accountsOf(view, listing, buyer),
    args: {
      buyer: universe.key(buyer),
      listing_id: LISTING_IDS[universe.listings.indexOf(listing)] ?? '',
    },
  };
}
