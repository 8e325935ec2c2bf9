import { type Values } from '../model/borsh.js';
import type { Meta } from '../model/call.js';
import { MAX_JUMP, WINDOW_WIDTH } from '../model/charge-window.js';
import { PREVIOUS_PRICE } from '../model/money.js';
import { STATUS } from '../model/state.js';
import { TAMPERINGS } from '../world/operations.js';
import type { Random } from '@agent-rental/test/support/random';
import type { AddressId } from '../world/universe.js';
import { amountNear, clamp } from './amounts.js';
import { accountsOf, hotKey, perQueryRental, type Intention } from './rentals.js';
import type { View } from './view.js';

/** What a run was admitted at: mostly the present price, else the previous one or another. */
function admittedPrice(view: View, random: Random, listing: AddressId): bigint {
  const state = view.listing(listing);
  const { price, previousPrice } = state ?? { price: 0n, previousPrice: 0n };
  const hasChangedLately = state !== null && view.ledger.now - state.priceChangedAt <= PREVIOUS_PRICE;
  const roll = random.below(100);
  if (roll < (hasChangedLately ? 50 : 80)) {
    return price;
  }
  return roll < 92 ? previousPrice : amountNear(random, price, previousPrice);
}

/** A sequence worth trying: the next, a jump, one in the window, or one at its edges. */
function sequence(random: Random, highest: bigint): bigint {
  switch (random.below(8)) {
    case 0:
    case 1:
      return clamp(highest + 1n);
    case 2:
      return clamp(highest + BigInt(random.below(70)));
    case 3:
      return clamp(highest + BigInt(random.below(Number(MAX_JUMP) + 8)));
    case 4:
      return clamp(highest - BigInt(random.below(Number(WINDOW_WIDTH) + 8)));
    case 5:
      return clamp(highest - BigInt(random.below(12)));
    default:
      return amountNear(
        random,
        clamp(highest + MAX_JUMP),
        clamp(highest - WINDOW_WIDTH),
        clamp(highest - 63n),
        clamp(highest - 64n),
        clamp(highest - 128n),
        clamp(highest + 64n),
        clamp(highest + 256n),
      );
  }
}

/** A charge of a run. */
export function consumeQuery(view: View, random: Random): Intention {
  const { listing, buyer } = perQueryRental(view, random, STATUS.active, STATUS.paused);
  return {
    accounts: { ...accountsOf(view, listing, buyer), authority: hotKey(view, random) },
    args: {
      sequence: sequence(random, view.balance(buyer, listing)?.highest ?? 0n),
      run_id: Buffer.alloc(16, random.below(256)),
      price_lamports: admittedPrice(view, random, listing),
    },
  };
}

/** How many charges come together. */
const COUNTS = [0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 5, 5, 9];

/** How many of a hundred instructions have more charges than a cluster's transaction has room for, as this runtime has. */
const CROWDED_PERCENT = 2;

/** How many of a hundred charges among several name an account that is not the buyer's of the listing. */
const WRONG_RENTAL_PERCENT = 7;

/** How many of a hundred instructions find a credential or a balance whose data is nearly right. */
const TAMPERED_PERCENT = 3;

/** How many of a hundred charges among several are of the next sequence and at a price that is taken. */
const PLAIN_PERCENT = 82;

/** Charges of several runs: of one buyer or of several, in any order, each on its own good enough or not. */
export function consumeQueries(view: View, random: Random): Intention {
  const { listing, buyer } = popularRental(view, random);
  const buyers = view.holders(listing, ({ valid }) => valid || random.chance(3));
  const count = random.chance(CROWDED_PERCENT) ? 28 + random.below(4) : random.pick(COUNTS);
  // A transaction of many has one wrong charge at most, or none of it would ever be charged.
  const isPlain = random.chance(count > 5 ? 70 : 35);
  const [isMixed, wrongAt] = [random.chance(75), random.below(count + 1)];
  const highest = new Map<AddressId, bigint>();
  const behind: Meta[] = [];
  const charges: Values[] = [];
  for (let index = 0; index < count; index += 1) {
    const payer = isMixed && random.chance(80) ? random.pick(buyers) : buyer;
    const last = highest.get(payer) ?? view.balance(payer, listing)?.highest ?? 0n;
    const isSimple = isPlain || (count > 5 && index !== wrongAt) || random.chance(PLAIN_PERCENT);
    const tried = isSimple ? clamp(last + 1n) : repeated(random, last);
    highest.set(payer, tried > last && tried <= last + MAX_JUMP ? tried : last);
    charges.push({
      sequence: tried,
      run_id: Buffer.alloc(16, random.below(256)),
      price_lamports: isSimple ? (view.listing(listing)?.price ?? 0n) : admittedPrice(view, random, listing),
    });
    const isWrong = !isPlain && (count <= 5 || index === wrongAt) && random.chance(WRONG_RENTAL_PERCENT);
    behind.push(...(isWrong ? wrongRental : rental)(view, random, listing, payer));
  }
  return {
    accounts: { ...accountsOf(view, listing, buyer), authority: hotKey(view, random) },
    behind,
    ...(random.chance(TAMPERED_PERCENT) ? tamperedAmong(view, random, behind) : {}),
    args: { charges },
  };
}

/** One of the accounts, with data that is nearly right. */
function tamperedAmong(view: View, random: Random, metas: readonly Meta[]): Pick<Intention, 'tampered'> {
  const ours = metas.filter(({ id }) => view.ledger.get(id).data.type !== 'raw');
  return ours.length === 0 ? {} : { tampered: { id: random.pick(ours).id, how: random.pick(TAMPERINGS) } };
}

/** A Per-Task rental, of two the one whose listing more wallets rent. */
function popularRental(view: View, random: Random): { listing: AddressId; buyer: AddressId } {
  const one = perQueryRental(view, random, STATUS.active, STATUS.paused);
  const other = perQueryRental(view, random, STATUS.active, STATUS.paused);
  const renters = (listing: AddressId): number =>
    view.universe.walletIds.filter((wallet) => view.credential(wallet, listing)?.valid === true).length;
  return renters(one.listing) > renters(other.listing) ? one : other;
}

/** As {@link sequence}, and often the one that was charged just before in the same instruction. */
function repeated(random: Random, highest: bigint): bigint {
  return random.chance(25) ? highest : sequence(random, highest);
}

function rental(view: View, _: Random, listing: AddressId, buyer: AddressId): Meta[] {
  return [
    { id: view.credentialOf(buyer, listing), isSigner: false, isWritable: false },
    { id: view.balanceOf(buyer, listing), isSigner: false, isWritable: true },
  ];
}

/** The accounts of a charge with one of them wrong: another listing's, another buyer's, swapped, not writable. */
function wrongRental(view: View, random: Random, listing: AddressId, buyer: AddressId): Meta[] {
  const { universe } = view;
  const [otherListing, otherBuyer] = [random.pick(universe.listings), random.pick(universe.walletIds)];
  const holder = random.pick(view.holders(listing, ({ valid }) => valid));
  const elsewhere = view.universe.listings.filter((id) => view.credential(buyer, id) !== null);
  const [credential, balance] = rental(view, random, listing, buyer);
  if (credential === undefined || balance === undefined) {
    return [];
  }
  const ofBoth = (id: AddressId, other: AddressId): Meta[] => [
    { ...credential, id },
    { ...balance, id: other },
  ];
  return random.pick([
    () => ofBoth(view.credentialOf(buyer, random.pick([otherListing, ...elsewhere])), balance.id),
    () => ofBoth(credential.id, view.balanceOf(buyer, random.pick([otherListing, ...elsewhere]))),
    () => rental(view, random, otherListing, random.pick(view.holders(otherListing, () => true))),
    () => ofBoth(credential.id, view.balanceOf(random.chance(50) ? holder : otherBuyer, listing)),
    () => ofBoth(view.credentialOf(random.chance(50) ? holder : otherBuyer, listing), balance.id),
    () => ofBoth(balance.id, credential.id),
    () => [credential, { ...balance, isWritable: false }],
    () => ofBoth(random.pick([...universe.nonCanonical, ...universe.hostile]), balance.id),
    () => ofBoth(credential.id, random.pick([...universe.nonCanonical, ...universe.hostile])),
    () => rental(view, random, listing, random.pick(view.holders(listing, ({ valid }) => !valid))),
  ])();
}
