import type { InstructionName } from '../model/instruction-table.js';
import { DURATIONS, MAX_FEE_BPS, U64_MAX, windowCost } from '../model/money.js';
import { MODEL, STATUS } from '../model/state.js';
import { LISTING_IDS, type AddressId } from '../world/universe.js';
import { consumeQueries, consumeQuery } from './charges.js';
import { clamp, type Intention, type Rental, type Scene } from './scene.js';

function feeBps(scene: Scene): number {
  return scene.chance(80) ? scene.below(MAX_FEE_BPS + 1) : scene.pick([0, 250, 1_000, 1_001, 65_535]);
}

function priceFloor(scene: Scene): bigint {
  return scene.chance(85) ? scene.pick([1_000n, 200_000n, 5_000_000n]) : scene.amountNear(1_000n);
}

function uri(scene: Scene): string {
  return 'u'.repeat(scene.chance(70) ? scene.below(60) : scene.pick([0, 199, 200, 201, 202, 300]));
}

function idOf(scene: Scene, listing: AddressId): string {
  return LISTING_IDS[scene.universe.listings.indexOf(listing)] ?? '';
}

/** The lowest price of a rental model. */
function floorOf(scene: Scene, model: number | undefined): bigint {
  return model === MODEL.perQuery ? (scene.protocol?.minQueryPrice ?? 1_000n) : 1_000n;
}

/** Pauses rarely, resumes soon, and sometimes repeats the present state. */
function paused(scene: Scene, isPaused: boolean): boolean | null {
  const roll = scene.below(100);
  if (isPaused) {
    return roll < 30 ? false : roll < 45 ? true : null;
  }
  return roll < 22 ? true : roll < 30 ? false : null;
}

function hasExpired(scene: Scene, wallet: AddressId, listing: AddressId): boolean {
  const credential = scene.credential(wallet, listing);
  return credential?.model === MODEL.subscription && credential.expiresAt <= scene.ledger.now;
}

/** An active listing of a rental model, and mostly a wallet without a credential for it. */
function sale(scene: Scene, model: number): Rental {
  const { listings, walletIds } = scene.universe;
  const formersOf = (id: AddressId): AddressId[] =>
    walletIds.filter((wallet) => hasExpired(scene, wallet, id));
  const left = listings.filter((id) => formersOf(id).length > 0);
  if (left.length > 0 && scene.chance(3)) {
    const former = scene.pick(left);
    return { listing: former, buyer: scene.pick(scene.holders(former)) };
  }
  const listing = scene.pick(
    scene.listings((state) => scene.chance(8) || (state.model === model && state.status === STATUS.active)),
  );
  const formers = formersOf(listing);
  if (formers.length > 0 && scene.chance(10)) {
    return { listing, buyer: scene.pick(formers) };
  }
  const newcomers = walletIds.filter((wallet) => scene.credential(wallet, listing) === null);
  const isNew = newcomers.length > 0 && scene.chance(88);
  return { listing, buyer: scene.pick(isNew ? newcomers : walletIds) };
}

/** The highest price that a buyer accepts: mostly enough. */
function agreed(scene: Scene, price: bigint): bigint {
  return scene.chance(85) ? scene.pick([price, clamp(price * 2n), U64_MAX]) : scene.amountNear(price);
}

/** A subscription for some time at its price. */
function subscribe(scene: Scene, { listing, buyer }: Rental, seconds: bigint): Intention {
  const price = clamp(windowCost(scene.listing(listing)?.price ?? 0n, seconds));
  const args = { duration_seconds: seconds, max_price_lamports: agreed(scene, price) };
  return { accounts: scene.accountsOf(listing, buyer), args };
}

/** Makes an intention for each instruction. */
export const INTENTIONS: Record<InstructionName, (scene: Scene) => Intention> = {
  initialize_protocol(scene) {
    const { universe } = scene;
    const { upgradeAuthority, treasury, pauper, admin, authority } = universe.wallets;
    return {
      accounts: {
        upgrade_authority: upgradeAuthority,
        protocol: universe.protocol,
        program_data: universe.programData,
        treasury: scene.chance(70) ? treasury : scene.pick([pauper, ...universe.hostile]),
        system_program: universe.systemProgram,
      },
      args: {
        admin: universe.key(admin),
        authority: universe.key(authority),
        fee_bps: feeBps(scene),
        min_query_price_lamports: priceFloor(scene),
      },
    };
  },

  update_protocol(scene) {
    const { universe, protocol } = scene;
    const { wallets, systemProgram } = universe;
    const someone = (...ids: AddressId[]): Uint8Array | null =>
      scene.chance(20) ? universe.key(scene.pick(ids)) : null;
    const isHandOverOpen = protocol !== null && protocol.pendingAdmin !== systemProgram;
    const admin = isHandOverOpen && scene.chance(40) ? protocol.pendingAdmin : protocol?.admin;
    const treasuries = [wallets.treasury, wallets.secondTreasury, ...universe.escrows, ...universe.hostile];
    return {
      accounts: {
        admin: admin ?? wallets.admin,
        protocol: universe.protocol,
        new_treasury: scene.chance(70) ? universe.program : scene.pick(treasuries),
      },
      args: {
        pending_admin: someone(wallets.admin, wallets.secondAdmin, systemProgram),
        authority: someone(wallets.authority, wallets.secondAuthority),
        next_authority: someone(wallets.secondAuthority, systemProgram),
        fee_bps: scene.chance(30) ? feeBps(scene) : null,
        min_query_price_lamports: scene.chance(20) ? priceFloor(scene) : null,
        // Mostly not paused, because a paused protocol refuses half of the instructions.
        paused: protocol?.paused === true ? scene.chance(20) : scene.chance(12) ? true : null,
      },
    };
  },

  create_listing(scene) {
    const { listings, wallets } = scene.universe;
    const vacant = listings.filter((listing) => scene.listing(listing) === null);
    const listing = scene.pick(vacant.length > 0 && scene.chance(90) ? vacant : listings);
    const model = scene.below(3);
    const floor = floorOf(scene, model);
    const price = scene.chance(80) ? scene.allowedPrice(floor) : scene.amountNear(floor);
    const minDeposit = scene.chance(80)
      ? clamp(price + BigInt(scene.below(9)) * price)
      : scene.amountNear(price);
    return {
      accounts: {
        ...scene.accountsOf(listing),
        creator: scene.pick([wallets.creator, wallets.secondCreator, wallets.buyer]),
        authority: scene.hotKey(),
      },
      args: {
        listing_id: idOf(scene, listing),
        rental_model: model,
        price_lamports: price,
        min_deposit_lamports: minDeposit,
        metadata_uri: uri(scene),
      },
    };
  },

  update_listing(scene) {
    const id = scene.pick(scene.listings(({ status }) => status !== STATUS.closed));
    const listing = scene.listing(id);
    const floor = floorOf(scene, listing?.model);
    const { price: present, previousPrice } = listing ?? { price: floor, previousPrice: floor };
    const eighth = present / 8n;
    // Mostly a price that renters accept before and after the change: the same, the previous one, a little more or less.
    const price = scene.chance(50)
      ? clamp(
          scene.pick([
            present,
            previousPrice,
            present + 1n,
            present - 1n,
            present + eighth,
            present - eighth,
          ]),
        )
      : scene.chance(50)
        ? scene.allowedPrice(floor)
        : scene.amountNear(floor);
    const isPriced = scene.chance(30);
    return {
      accounts: scene.accountsOf(id),
      args: {
        price_lamports: isPriced ? price : null,
        min_deposit_lamports:
          isPriced || scene.chance(10) ? scene.amountNear(price, clamp(price * 2n)) : null,
        metadata_uri: scene.chance(25) ? uri(scene) : null,
        paused: paused(scene, listing?.status === STATUS.paused),
      },
    };
  },

  close_listing(scene) {
    const { now } = scene.ledger;
    const listing = scene.pick(
      scene.listings(
        (state, id) =>
          state.status !== STATUS.closed &&
          (scene.chance(12) || (state.latestExpiry <= now && (scene.escrow(id)?.earnings ?? 0n) <= 1n)),
      ),
    );
    return { accounts: scene.accountsOf(listing), args: {} };
  },

  moderate_listing(scene) {
    // A suspension ends soon, because a suspended listing sells nothing.
    const isEnding = scene.chance(70);
    const listing = scene.pick(
      scene.listings(({ status }) => scene.chance(5) || (status === STATUS.suspended) === isEnding),
    );
    return { accounts: scene.accountsOf(listing), args: { suspended: scene.chance(10) === isEnding } };
  },

  purchase_one_time(scene) {
    const { listing, buyer } = sale(scene, MODEL.oneTime);
    const price = scene.listing(listing)?.price ?? 0n;
    return {
      accounts: scene.accountsOf(listing, buyer),
      args: { max_price_lamports: agreed(scene, price) },
    };
  },

  purchase_subscription(scene) {
    return subscribe(scene, sale(scene, MODEL.subscription), scene.duration());
  },

  renew_subscription(scene) {
    const listing = scene.pick(
      scene.listings(
        (state, id) =>
          state.model === MODEL.subscription &&
          (scene.chance(5) || (state.status === STATUS.active && scene.isRented(id))),
      ),
    );
    const buyer = scene.pick(scene.holders(listing, ({ valid }) => valid || scene.chance(10)));
    const expiresAt = scene.credential(buyer, listing)?.expiresAt ?? 0n;
    const longer = DURATIONS.filter((seconds) => scene.ledger.now + seconds > expiresAt);
    const seconds = longer.length > 0 && scene.chance(80) ? scene.pick(longer) : scene.duration();
    return subscribe(scene, { listing, buyer }, seconds);
  },

  purchase_per_query(scene) {
    const { listing, buyer } = sale(scene, MODEL.perQuery);
    const { price, minDeposit } = scene.listing(listing) ?? { price: 0n, minDeposit: 0n };
    const deposit = scene.chance(85)
      ? clamp(minDeposit * BigInt(1 + scene.below(20)))
      : scene.amountNear(minDeposit);
    return {
      accounts: scene.accountsOf(listing, buyer),
      args: { deposit_lamports: deposit, max_price_lamports: agreed(scene, price) },
    };
  },

  topup_balance(scene) {
    const { listing, buyer } = scene.perQueryRental(STATUS.active);
    const price = scene.listing(listing)?.price ?? 0n;
    const room = U64_MAX - (scene.balance(buyer, listing)?.totalDeposited ?? 0n);
    const amount = scene.chance(75) ? clamp(price * BigInt(scene.below(12))) : scene.amountNear(price, room);
    return {
      accounts: scene.accountsOf(listing, buyer),
      args: { amount_lamports: amount, max_price_lamports: agreed(scene, price) },
    };
  },

  fund_balance(scene) {
    const { listing, buyer } = scene.chance(50)
      ? sale(scene, MODEL.perQuery)
      : scene.perQueryRental(STATUS.active);
    const { price, minDeposit } = scene.listing(listing) ?? { price: 0n, minDeposit: 0n };
    const least = scene.credential(buyer, listing) === null ? minDeposit : price;
    const amount = scene.chance(85) ? clamp(least * BigInt(1 + scene.below(9))) : scene.amountNear(least);
    const { walletIds } = scene.universe;
    return {
      accounts: {
        ...scene.accountsOf(listing, buyer),
        payer: scene.pick(walletIds),
        authority: scene.hotKey(),
      },
      args: { amount_lamports: amount, max_price_lamports: agreed(scene, price) },
    };
  },

  consume_query: consumeQuery,
  consume_queries: consumeQueries,

  revoke_access(scene) {
    const listing = scene.pick(
      scene.listings(({ model }, id) => scene.chance(5) || (model !== MODEL.perQuery && scene.isRented(id))),
    );
    const buyer = scene.pick(scene.holders(listing, ({ valid }) => valid || scene.chance(10)));
    return { accounts: scene.accountsOf(listing, buyer), args: {} };
  },

  revoke_per_query_access(scene) {
    const { listing, buyer } = scene.perQueryRental(...Object.values(STATUS));
    const accounts = scene.accountsOf(listing, buyer);
    const { admin = 0, creator = 0 } = accounts;
    const isActive = scene.listing(listing)?.status === STATUS.active;
    // Mostly the buyer, because a revocation by the admin or the creator ends the rental too early.
    const revoker = scene.chance(isActive ? 60 : 85) ? buyer : scene.pick([admin, creator, buyer]);
    return { accounts: { ...accounts, revoker }, args: {} };
  },

  withdraw_earnings(scene) {
    const earningsOf = (id: AddressId): bigint => scene.escrow(id)?.earnings ?? 0n;
    const listing = scene.pick(scene.listings((_, id) => scene.chance(10) || earningsOf(id) > 0n));
    const earnings = earningsOf(listing);
    const part = scene.chance(50)
      ? earnings / BigInt(1 + scene.below(4))
      : scene.amountNear(earnings, clamp(earnings - 1n));
    return { accounts: scene.accountsOf(listing), args: { amount_lamports: scene.chance(50) ? null : part } };
  },

  verify_access(scene) {
    const { universe } = scene;
    const listing = scene.pick(universe.listings);
    const buyer = scene.pick(scene.chance(80) ? scene.holders(listing) : universe.walletIds);
    const args = { buyer: universe.key(buyer), listing_id: idOf(scene, listing) };
    return { accounts: scene.accountsOf(listing, buyer), args };
  },
};
