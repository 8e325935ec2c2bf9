import type { Values } from '../model/borsh.js';
import type { Meta } from '../model/instruction-table.js';
import { MAX_JUMP, WINDOW_WIDTH } from '../model/charge-window.js';
import { PREVIOUS_PRICE } from '../model/money.js';
import { STATUS } from '../model/state.js';
import { TAMPERINGS } from '../world/operations.js';
import type { AddressId } from '../world/universe.js';
import { clamp, type Intention, type Rental, type Scene } from './scene.js';

/** The price at a run's admission: mostly the present price, else the previous one or another. */
function admittedPrice(scene: Scene, listing: AddressId): bigint {
  const state = scene.listing(listing);
  const { price, previousPrice } = state ?? { price: 0n, previousPrice: 0n };
  const hasChangedLately = state !== null && scene.ledger.now - state.priceChangedAt <= PREVIOUS_PRICE;
  const roll = scene.below(100);
  if (roll < (hasChangedLately ? 50 : 80)) {
    return price;
  }
  return roll < 92 ? previousPrice : scene.amountNear(price, previousPrice);
}

/** Distances from the highest sequence where the rule changes: the ends of a jump, of the window and of its words. */
const EDGES = [MAX_JUMP, -WINDOW_WIDTH, -63n, -64n, -128n, 64n, 256n];

/** A sequence for a charge: the next one, a jump, one in the window, or one at its edges. */
function sequence(scene: Scene, highest: bigint): bigint {
  const roll = scene.below(8);
  const above = [0, 0, 70, Number(MAX_JUMP) + 8][roll];
  if (above !== undefined) {
    return clamp(highest + (above === 0 ? 1n : BigInt(scene.below(above))));
  }
  return roll < 6
    ? clamp(highest - BigInt(scene.below(roll === 4 ? Number(WINDOW_WIDTH) + 8 : 12)))
    : scene.amountNear(...EDGES.map((edge) => clamp(highest + edge)));
}

/** A charge of a run. */
export function consumeQuery(scene: Scene): Intention {
  const { listing, buyer } = scene.perQueryRental(STATUS.active, STATUS.paused, STATUS.suspended);
  return {
    accounts: { ...scene.accountsOf(listing, buyer), authority: scene.hotKey() },
    args: {
      sequence: sequence(scene, scene.highest(buyer, listing)),
      run_id: Buffer.alloc(16, scene.below(256)),
      price_lamports: admittedPrice(scene, listing),
    },
  };
}

/** Numbers of charges in one instruction. */
const COUNTS = [0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 5, 5, 9];

/** The share of instructions with more charges than fit into a cluster's transaction. This runtime takes them. */
const CROWDED_PERCENT = 2;

/** The share of charges among several with a wrong account for the buyer and the listing. */
const WRONG_RENTAL_PERCENT = 7;

/** The share of instructions with a credential or a balance whose data is nearly right. */
const TAMPERED_PERCENT = 3;

/** The share of charges among several with the next sequence and an accepted price. */
const PLAIN_PERCENT = 82;

/** Charges of several runs, of one buyer or of several, in any order. Each charge is valid or not. */
export function consumeQueries(scene: Scene): Intention {
  const { listing, buyer } = popularRental(scene);
  const buyers = scene.holders(listing, ({ valid }) => valid || scene.chance(3));
  const count = scene.chance(CROWDED_PERCENT) ? 28 + scene.below(4) : scene.pick(COUNTS);
  // At most one wrong charge among many, because otherwise a large transaction would never succeed.
  const isPlain = scene.chance(count > 5 ? 70 : 35);
  const [isMixed, wrongAt] = [scene.chance(75), scene.below(count + 1)];
  const highest = new Map<AddressId, bigint>();
  const behind: Meta[] = [];
  const charges: Values[] = [];
  for (let index = 0; index < count; index += 1) {
    const payer = isMixed && scene.chance(80) ? scene.pick(buyers) : buyer;
    const last = highest.get(payer) ?? scene.highest(payer, listing);
    const isSimple = isPlain || (count > 5 && index !== wrongAt) || scene.chance(PLAIN_PERCENT);
    // Often the sequence of an earlier charge in the same instruction.
    const tried = isSimple ? clamp(last + 1n) : scene.chance(25) ? last : sequence(scene, last);
    highest.set(payer, tried > last && tried <= last + MAX_JUMP ? tried : last);
    charges.push({
      sequence: tried,
      run_id: Buffer.alloc(16, scene.below(256)),
      price_lamports: isSimple ? (scene.listing(listing)?.price ?? 0n) : admittedPrice(scene, listing),
    });
    const isWrong = !isPlain && (count <= 5 || index === wrongAt) && scene.chance(WRONG_RENTAL_PERCENT);
    behind.push(...(isWrong ? wrongRental : rental)(scene, listing, payer));
  }
  const accounts = { ...scene.accountsOf(listing, buyer), authority: scene.hotKey() };
  const ours = scene.chance(TAMPERED_PERCENT) ? behind.filter(({ id }) => scene.isOurs(id)) : [];
  return {
    accounts,
    behind,
    ...(ours.length > 0 ? { tampered: { id: scene.pick(ours).id, how: scene.pick(TAMPERINGS) } } : {}),
    args: { charges },
  };
}

/** Picks two Per-Task rentals. @returns the one whose listing has more renters. */
function popularRental(scene: Scene): Rental {
  const one = scene.perQueryRental(STATUS.active, STATUS.paused, STATUS.suspended);
  const other = scene.perQueryRental(STATUS.active, STATUS.paused, STATUS.suspended);
  const renters = ({ listing }: Rental): number =>
    scene.universe.walletIds.filter((wallet) => scene.credential(wallet, listing)?.valid === true).length;
  return renters(one) > renters(other) ? one : other;
}

function pair(credential: AddressId, balance: AddressId, isWritable = true): Meta[] {
  return [
    { id: credential, isSigner: false, isWritable: false },
    { id: balance, isSigner: false, isWritable },
  ];
}

function rental({ universe }: Scene, listing: AddressId, buyer: AddressId): Meta[] {
  return pair(universe.credentialOf(buyer, listing), universe.balanceOf(buyer, listing));
}

/** The accounts of a charge with a fault: another listing's, another buyer's, swapped, or not writable. */
function wrongRental(scene: Scene, listing: AddressId, buyer: AddressId): Meta[] {
  const { universe } = scene;
  const [otherListing, otherBuyer] = [scene.pick(universe.listings), scene.pick(universe.walletIds)];
  const holder = scene.pick(scene.holders(listing, ({ valid }) => valid));
  const elsewhere = universe.listings.filter((id) => scene.credential(buyer, id) !== null);
  const anotherListing = (): AddressId => scene.pick([otherListing, ...elsewhere]);
  const anotherBuyer = (): AddressId => (scene.chance(50) ? holder : otherBuyer);
  const strange = (): AddressId => scene.pick([...universe.nonCanonical, ...universe.hostile]);
  const credential = universe.credentialOf(buyer, listing);
  const balance = universe.balanceOf(buyer, listing);
  return scene.pick([
    () => pair(universe.credentialOf(buyer, anotherListing()), balance),
    () => pair(credential, universe.balanceOf(buyer, anotherListing())),
    () => rental(scene, otherListing, scene.pick(scene.holders(otherListing))),
    () => pair(credential, universe.balanceOf(anotherBuyer(), listing)),
    () => pair(universe.credentialOf(anotherBuyer(), listing), balance),
    () => pair(balance, credential),
    () => pair(credential, balance, false),
    () => pair(strange(), balance),
    () => pair(credential, strange()),
    () => rental(scene, listing, scene.pick(scene.holders(listing, ({ valid }) => !valid))),
  ])();
}
