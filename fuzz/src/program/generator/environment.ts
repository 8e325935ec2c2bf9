import { rentExemptMinimum } from '../model/ledger.js';
import { PREVIOUS_PRICE, RECLAIM_AFTER, U64_MAX } from '../model/money.js';
import { nextForgotten, pausedSeconds, PAUSE_UNIT, PAUSE_WINDOW } from '../model/pauses.js';
import { encodeAccountData, isPaused, MODEL, NO_DATA, type StateOf } from '../model/state.js';
import { TAMPERINGS, tamper, type Operation } from '../world/operations.js';
import type { AddressId } from '../world/universe.js';
import { DEFAULT_RENT, GENESIS } from '../world/world.js';
import type { Scene } from './scene.js';

/** Makes an operation other than an instruction: time passes, lamports move, or hostile accounts appear. */
export function environment(scene: Scene): Operation {
  const { lamportsPerByte, threshold } = scene.ledger.rent;
  const isOddRent = lamportsPerByte !== DEFAULT_RENT.lamportsPerByte || threshold !== DEFAULT_RENT.threshold;
  if (isOddRent && scene.chance(60)) {
    return { kind: 'rent', ...DEFAULT_RENT };
  }
  const kind = scene.weighted([
    ['clock', 40],
    ['rent', 6],
    ['donate', 16],
    ['fund', 16],
    ['plant', 18],
    ['age', 6],
  ]);
  switch (kind) {
    case 'clock':
      return { kind, now: BigInt.asIntN(64, nextTime(scene)) };
    case 'rent':
      return { kind, ...oddRent(scene) };
    case 'donate':
      return donation(scene);
    case 'fund': {
      const wallet = scene.pick(scene.universe.walletIds);
      return { kind, wallet, lamports: scene.chance(75) ? 10n ** 17n : walletLamports(scene) };
    }
    case 'plant':
      return plant(scene);
    default:
      return age(scene);
  }
}

function nextTime(scene: Scene): bigint {
  const { now } = scene.ledger;
  // Back from extreme times to today.
  if (now > GENESIS * 8n || now < GENESIS / 2n) {
    return GENESIS;
  }
  const listing = scene.listing(scene.pick(scene.universe.listings));
  const event = listing === null ? 0n : scene.pick(eventsOf(listing, now));
  const roll = scene.below(100);
  if (roll < 35 && event > now) {
    return event + BigInt(scene.below(3) - 1);
  }
  return roll < 97
    ? now + scene.pick([1n, 450n, 3_600n, 43_200n, 86_400n, 302_400n, RECLAIM_AFTER, 2_592_000n])
    : scene.pick([-1n, 0n, 2n ** 63n - 1n, 2n ** 63n - 604_800n, 2n ** 63n - 31_536_000n, GENESIS]);
}

/** Times of changes of a listing: the ends of a subscription, a previous price, the wait for a reclaim, and a counted pause. */
function eventsOf(listing: Readonly<StateOf<'listing'>>, now: bigint): bigint[] {
  const { latestExpiry, pausedAt, pauses, priceChangedAt } = listing;
  const paused = pausedSeconds(pauses, isPaused(listing) ? pausedAt : null, now);
  return [
    latestExpiry,
    priceChangedAt + PREVIOUS_PRICE,
    now + RECLAIM_AFTER - paused,
    nextForgotten(pauses) ?? pausedAt + RECLAIM_AFTER,
    pauses.latest * PAUSE_UNIT + PAUSE_WINDOW,
  ];
}

/** Lamports per byte, and the threshold. */
const ODD_RENTS = [
  [3_480n, 2],
  [696n, 1],
  [1n, 1],
  [20_000n, 2],
  [50_000_000n, 1],
  [2n ** 40n, 1],
  [2n ** 40n + 1n, 1],
  [6_960n, 1.5],
  [6_960n, 3],
] as const;

function oddRent(scene: Scene): { lamportsPerByte: bigint; threshold: number } {
  const [lamportsPerByte, threshold] = scene.pick(ODD_RENTS);
  return { lamportsPerByte, threshold };
}

function donation(scene: Scene): Operation {
  const { universe, ledger } = scene;
  const listing = scene.pick(universe.listings);
  const wallet = scene.pick(universe.walletIds);
  const to = scene.pick([
    universe.protocol,
    listing,
    scene.escrowOf(listing),
    universe.credentialOf(wallet, listing),
    universe.balanceOf(wallet, listing),
    scene.pick(universe.nonCanonical),
  ]);
  const least = rentExemptMinimum(ledger.rent, 0);
  return { kind: 'donate', to, lamports: scene.pick([1n, least, least + 1n, 2_000_000n, 10n ** 9n]) };
}

function walletLamports(scene: Scene): bigint {
  const least = rentExemptMinimum(scene.ledger.rent, 0);
  return scene.chance(70)
    ? scene.pick([0n, least - 1n, least, least + 5_000n, 2_000_000n, 10n ** 9n])
    : scene.pick([U64_MAX, U64_MAX - 1_000n, U64_MAX - 10n ** 9n, scene.amountNear(least)]);
}

/** Plants a hostile account: a copy of another owner, a nearly right copy, or a system account with data. */
function plant(scene: Scene): Operation {
  const { universe, ledger } = scene;
  const at = scene.pick(universe.hostile);
  const listing = scene.pick(universe.listings);
  const rented = universe.walletIds.flatMap((wallet) => [
    universe.credentialOf(wallet, listing),
    universe.balanceOf(wallet, listing),
  ]);
  const all = [universe.protocol, ...universe.listings, ...universe.escrows, ...rented];
  const existing = all.filter((id) => scene.isOurs(id));
  if (scene.chance(25)) {
    return forgery(scene, at);
  }
  const model = scene.chance(15) || existing.length === 0 ? universe.programData : scene.pick(existing);
  const bytes = encodeAccountData(universe, model, ledger.get(model));
  const planted = (owner: AddressId, data: Buffer): Operation => {
    const rent = rentExemptMinimum(ledger.rent, data.length);
    return { kind: 'plant', at, owner, bytes: data, lamports: scene.pick([rent, rent - 1n, 10n ** 9n]) };
  };
  const roll = scene.below(5);
  if (roll === 0) {
    return planted(universe.systemProgram, scene.chance(50) ? NO_DATA.bytes : bytes);
  }
  if (roll > 2) {
    return planted(scene.pick([universe.otherProgram, universe.loader]), bytes);
  }
  return model === universe.programData
    ? planted(universe.loader, bytes)
    : planted(universe.program, tamper(bytes, scene.pick(TAMPERINGS)));
}

/**
 * Plants a full copy of one of the program's accounts at an address that the program would never use. No wallet can make such a
 * copy. Only the check of the address refuses it, so the copies are of types with derived addresses.
 */
function forgery(scene: Scene, at: AddressId): Operation {
  const { universe, ledger } = scene;
  const balances = universe.listings
    .flatMap((listing) => universe.walletIds.map((wallet) => universe.balanceOf(wallet, listing)))
    .filter((id) => scene.isOurs(id));
  const models = [universe.protocol, ...universe.escrows.filter((id) => scene.isOurs(id))];
  const model = scene.pick(balances.length > 0 && scene.chance(50) ? balances : models);
  const bytes = encodeAccountData(universe, model, ledger.get(model));
  const owner = scene.isOurs(model) ? universe.program : universe.otherProgram;
  return { kind: 'plant', at, owner, bytes, lamports: 10n ** 9n };
}

function age(scene: Scene): Operation {
  const { universe } = scene;
  const isRented = scene.chance(70);
  const listing = scene.pick(scene.listings(({ model }) => !isRented || model === MODEL.perQuery));
  const balance = universe.balanceOf(scene.pick(scene.holders(listing)), listing);
  const value = U64_MAX - scene.pick([0n, 1n, 10_000n, 10n ** 9n, 10n ** 12n]);
  const state = scene.listing(listing);
  if (state !== null && isPaused(state) && scene.chance(40)) {
    const late = 2n ** 63n - 1n - BigInt(scene.below(604_802));
    return { kind: 'age', at: listing, counter: 'pausedAt', value: late };
  }
  const [at, counter] = scene.pick([
    [listing, 'revision'],
    [scene.escrowOf(listing), 'totalEarned'],
    [balance, 'totalSpent'],
    [balance, 'totalDeposited'],
  ] as const);
  return { kind: 'age', at, counter, value };
}

/** Changes an input of the protocol's creation: the payer's lamports, the loader's account, or the rent. */
export function prelude(scene: Scene): Operation {
  const { universe, ledger } = scene;
  const { upgradeAuthority, treasury } = universe.wallets;
  switch (scene.below(6)) {
    case 0:
      return { kind: 'fund', wallet: upgradeAuthority, lamports: 10n ** scene.pick([6n, 17n, 17n]) };
    case 1: {
      const tooLittle = rentExemptMinimum(ledger.rent, 0) - 1n;
      return { kind: 'fund', wallet: treasury, lamports: scene.pick([10n ** 17n, tooLittle]) };
    }
    case 2:
      return { kind: 'rent', ...(scene.chance(60) ? DEFAULT_RENT : oddRent(scene)) };
    case 3:
      return { kind: 'donate', to: universe.protocol, lamports: scene.pick([1n, 10n ** 6n, 10n ** 9n]) };
    default:
      return programData(scene);
  }
}

/** The loader's account: mostly right, else without an authority, of another kind, cut, or with another owner. */
function programData(scene: Scene): Operation {
  const { universe } = scene;
  const { upgradeAuthority, stranger } = universe.wallets;
  const bytes = Buffer.alloc(scene.pick([45, 45, 45, 1_000, 44, 13, 0]));
  bytes[0] = scene.chance(80) ? 3 : scene.below(4);
  bytes[3] = scene.chance(95) ? 0 : 1;
  bytes[12] = scene.chance(85) ? 1 : scene.pick([0, 2]);
  const authority = universe.key(scene.chance(85) ? upgradeAuthority : stranger);
  bytes.set(authority.subarray(0, Math.max(0, bytes.length - 13)), Math.min(13, bytes.length));
  const owner = scene.chance(85)
    ? universe.loader
    : scene.pick([universe.systemProgram, universe.otherProgram]);
  return { kind: 'plant', at: universe.programData, owner, bytes, lamports: 10n ** 9n };
}
