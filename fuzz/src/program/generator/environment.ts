import { rentExemptMinimum } from '../model/ledger.js';
import { PREVIOUS_PRICE, RECLAIM_AFTER, U64_MAX } from '../model/money.js';
import { nextForgotten, pausedSeconds, PAUSE_UNIT, PAUSE_WINDOW } from '../model/pauses.js';
import { encodeAccountData, MODEL, NO_DATA, STATUS, type ListingState } from '../model/state.js';
import { TAMPERINGS, tamper, type Operation } from '../world/operations.js';
import type { Random } from '@agent-rental/test/support/random';
import type { AddressId } from '../world/universe.js';
import { DEFAULT_RENT, GENESIS } from '../world/world.js';
import { amountNear } from './amounts.js';
import type { View } from './view.js';

/** Something that happens beside instructions: time passes, lamports move, hostile accounts appear. */
export function environment(view: View, random: Random): Operation {
  const { lamportsPerByte, threshold } = view.ledger.rent;
  const isOddRent = lamportsPerByte !== DEFAULT_RENT.lamportsPerByte || threshold !== DEFAULT_RENT.threshold;
  if (isOddRent && random.chance(60)) {
    return { kind: 'rent', ...DEFAULT_RENT };
  }
  const kind = random.weighted([
    ['clock', 40],
    ['rent', 6],
    ['donate', 16],
    ['fund', 16],
    ['plant', 18],
    ['age', 6],
  ]);
  switch (kind) {
    case 'clock':
      return { kind, now: BigInt.asIntN(64, nextTime(view, random)) };
    case 'rent':
      return { kind, ...oddRent(random) };
    case 'donate':
      return donation(view, random);
    case 'fund':
      return {
        kind,
        wallet: random.pick(view.universe.walletIds),
        lamports: random.chance(75) ? 10n ** 17n : walletLamports(view, random),
      };
    case 'plant':
      return plant(view, random);
    default:
      return age(view, random);
  }
}

function nextTime(view: View, random: Random): bigint {
  const { now } = view.ledger;
  // From the ends of time back to today.
  if (now > GENESIS * 8n || now < GENESIS / 2n) {
    return GENESIS;
  }
  const listing = view.listing(random.pick(view.universe.listings));
  const events = listing === null ? [] : eventsOf(listing, now);
  const event = events.length > 0 ? random.pick(events) : 0n;
  const roll = random.below(100);
  if (roll < 35 && event > now) {
    return event + BigInt(random.below(3) - 1);
  }
  if (roll < 97) {
    return now + random.pick([1n, 450n, 3_600n, 43_200n, 86_400n, 302_400n, RECLAIM_AFTER, 2_592_000n]);
  }
  return random.pick([-1n, 0n, 2n ** 63n - 1n, 2n ** 63n - 604_800n, 2n ** 63n - 31_536_000n, GENESIS]);
}

/** Times at which something about a listing ends: a subscription, a price, the wait for a reclaim, a pause that counts. */
function eventsOf(listing: Readonly<ListingState>, now: bigint): bigint[] {
  const { latestExpiry, status, pausedAt, pauses, priceChangedAt } = listing;
  const paused = pausedSeconds(pauses, status === STATUS.paused ? pausedAt : null, now);
  return [
    latestExpiry,
    priceChangedAt + PREVIOUS_PRICE,
    now + RECLAIM_AFTER - paused,
    nextForgotten(pauses) ?? pausedAt + RECLAIM_AFTER,
    pauses.latest * PAUSE_UNIT + PAUSE_WINDOW,
  ];
}

function oddRent(random: Random): { lamportsPerByte: bigint; threshold: number } {
  return random.pick([
    { lamportsPerByte: 3_480n, threshold: 2 },
    { lamportsPerByte: 696n, threshold: 1 },
    { lamportsPerByte: 1n, threshold: 1 },
    { lamportsPerByte: 20_000n, threshold: 2 },
    { lamportsPerByte: 50_000_000n, threshold: 1 },
    { lamportsPerByte: 2n ** 40n, threshold: 1 },
    { lamportsPerByte: 2n ** 40n + 1n, threshold: 1 },
    { lamportsPerByte: 6_960n, threshold: 1.5 },
    { lamportsPerByte: 6_960n, threshold: 3 },
  ]);
}

function donation(view: View, random: Random): Operation {
  const { universe, ledger } = view;
  const listing = random.pick(universe.listings);
  const wallet = random.pick(universe.walletIds);
  const to = random.pick([
    universe.protocol,
    listing,
    view.escrowOf(listing),
    view.credentialOf(wallet, listing),
    view.balanceOf(wallet, listing),
    random.pick(universe.nonCanonical),
  ]);
  const least = rentExemptMinimum(ledger.rent, 0);
  const lamports = random.pick([1n, least, least + 1n, 2_000_000n, 10n ** 9n]);
  return { kind: 'donate', to, lamports };
}

function walletLamports(view: View, random: Random): bigint {
  const least = rentExemptMinimum(view.ledger.rent, 0);
  return random.chance(70)
    ? random.pick([0n, least - 1n, least, least + 5_000n, 2_000_000n, 10n ** 9n])
    : random.pick([U64_MAX, U64_MAX - 1_000n, U64_MAX - 10n ** 9n, amountNear(random, least)]);
}

/** A hostile account: a copy that another program owns, one of ours that is nearly right, or nothing with data. */
function plant(view: View, random: Random): Operation {
  const { universe, ledger } = view;
  const at = random.pick(universe.hostile);
  const ours: AddressId[] = [universe.protocol, ...universe.listings, ...universe.escrows];
  const listing = random.pick(universe.listings);
  for (const wallet of universe.walletIds) {
    ours.push(view.credentialOf(wallet, listing), view.balanceOf(wallet, listing));
  }
  const existing = ours.filter((id) => ledger.get(id).data.type !== 'raw');
  if (random.chance(25)) {
    return forgery(view, random, at);
  }
  const model = random.chance(15) || existing.length === 0 ? universe.programData : random.pick(existing);
  const bytes = encodeAccountData(universe, model, ledger.get(model));
  const planted = (owner: AddressId, data: Buffer): Operation => {
    const rent = rentExemptMinimum(ledger.rent, data.length);
    return { kind: 'plant', at, owner, bytes: data, lamports: random.pick([rent, rent - 1n, 10n ** 9n]) };
  };
  switch (random.below(5)) {
    case 0:
      return planted(universe.systemProgram, random.chance(50) ? NO_DATA.bytes : bytes);
    case 1:
    case 2:
      return model === universe.programData
        ? planted(universe.loader, bytes)
        : planted(universe.program, tamper(bytes, random.pick(TAMPERINGS)));
    default:
      return planted(random.pick([universe.otherProgram, universe.loader]), bytes);
  }
}

/**
 * A full copy of an account of ours, owned by the program, where the program would never have put it. No wallet can make
 * one; the check of the address alone refuses it. Only of types whose address is always derived.
 */
function forgery(view: View, random: Random, at: AddressId): Operation {
  const { universe, ledger } = view;
  const exists = (id: AddressId): boolean => ledger.get(id).data.type !== 'raw';
  const balances = universe.listings
    .flatMap((listing) => universe.walletIds.map((wallet) => view.balanceOf(wallet, listing)))
    .filter(exists);
  const models = [universe.protocol, ...universe.escrows.filter(exists)];
  const model = random.pick(balances.length > 0 && random.chance(50) ? balances : models);
  const bytes = encodeAccountData(universe, model, ledger.get(model));
  const owner = exists(model) ? universe.program : universe.otherProgram;
  return { kind: 'plant', at, owner, bytes, lamports: 10n ** 9n };
}

function age(view: View, random: Random): Operation {
  const isRented = random.chance(70);
  const listing = random.pick(view.listings(({ model }) => !isRented || model === MODEL.perQuery));
  const buyer = random.pick(view.holders(listing, () => true));
  const value = U64_MAX - random.pick([0n, 1n, 10_000n, 10n ** 9n, 10n ** 12n]);
  if (view.listing(listing)?.status === STATUS.paused && random.chance(40)) {
    return {
      kind: 'age',
      at: listing,
      counter: 'pausedAt',
      value: 2n ** 63n - 1n - BigInt(random.below(604_802)),
    };
  }
  return random.pick<Operation>([
    { kind: 'age', at: listing, counter: 'revision', value },
    { kind: 'age', at: view.escrowOf(listing), counter: 'totalEarned', value },
    { kind: 'age', at: view.balanceOf(buyer, listing), counter: 'totalSpent', value },
    { kind: 'age', at: view.balanceOf(buyer, listing), counter: 'totalDeposited', value },
  ]);
}

/** What the creation of the protocol looks at, changed: the payer's lamports, the loader's account, the rent. */
export function prelude(view: View, random: Random): Operation {
  const { universe, ledger } = view;
  const { upgradeAuthority, treasury } = universe.wallets;
  switch (random.below(6)) {
    case 0:
      return { kind: 'fund', wallet: upgradeAuthority, lamports: 10n ** random.pick([6n, 17n, 17n]) };
    case 1:
      return {
        kind: 'fund',
        wallet: treasury,
        lamports: random.pick([10n ** 17n, rentExemptMinimum(ledger.rent, 0) - 1n]),
      };
    case 2:
      return { kind: 'rent', ...(random.chance(60) ? DEFAULT_RENT : oddRent(random)) };
    case 3:
      return { kind: 'donate', to: universe.protocol, lamports: random.pick([1n, 10n ** 6n, 10n ** 9n]) };
    default:
      return programData(view, random);
  }
}

/** The loader's account: mostly as it should be, else without an authority, of another kind, cut, or of another owner. */
function programData(view: View, random: Random): Operation {
  const { universe } = view;
  const bytes = Buffer.alloc(random.pick([45, 45, 45, 1_000, 44, 13, 0]));
  bytes[0] = random.chance(80) ? 3 : random.below(4);
  bytes[3] = random.chance(95) ? 0 : 1;
  bytes[12] = random.chance(85) ? 1 : random.pick([0, 2]);
  bytes.set(
    universe
      .key(random.chance(85) ? universe.wallets.upgradeAuthority : universe.wallets.stranger)
      .subarray(0, Math.max(0, bytes.length - 13)),
    Math.min(13, bytes.length),
  );
  const owner = random.chance(85)
    ? universe.loader
    : random.pick([universe.systemProgram, universe.otherProgram]);
  return { kind: 'plant', at: universe.programData, owner, bytes, lamports: 10n ** 9n };
}
