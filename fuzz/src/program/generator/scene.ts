import type { Values } from '../model/borsh.js';
import type { Meta, StateType } from '../model/instruction-table.js';
import { highestOf } from '../model/charge-window.js';
import type { Ledger } from '../model/ledger.js';
import { DURATIONS, MAX_PRICE, MIN_PRICE, U64_MAX } from '../model/money.js';
import { MODEL, type StateOf } from '../model/state.js';
import type { Tampered } from '../world/operations.js';
import { Random } from '@agent-rental/test/support/random';
import type { AddressId, Universe } from '../world/universe.js';

/** A plausible instruction: its accounts by name, further accounts, and its arguments. */
export interface Intention {
  accounts: Record<string, AddressId>;
  behind?: Meta[];
  tampered?: Tampered;
  args: Values;
}

/** A listing, and a wallet that rents it or may rent it. */
export interface Rental {
  listing: AddressId;
  buyer: AddressId;
}

/** A test of a listing. */
export type ListingTest = (listing: Readonly<StateOf<'listing'>>, id: AddressId) => boolean;
/** A test of a credential. */
export type CredentialTest = (credential: Readonly<StateOf<'access_credential'>>) => boolean;

/** Limits a number to the range of a u64. */
export function clamp(value: bigint): bigint {
  return value < 0n ? 0n : value > U64_MAX ? U64_MAX : value;
}

/** The generator's view of a world, with its random numbers. It lets most instructions have a chance. */
export class Scene extends Random {
  readonly ledger: Ledger;
  readonly universe: Universe;

  constructor(ledger: Ledger, seed: number) {
    super(seed);
    this.ledger = ledger;
    this.universe = ledger.universe;
  }

  #state<T extends StateType>(id: AddressId, type: T): Readonly<StateOf<T>> | null {
    const { data } = this.ledger.get(id);
    return data.type === type ? (data as StateOf<T>) : null;
  }

  get protocol(): Readonly<StateOf<'protocol'>> | null {
    return this.#state(this.universe.protocol, 'protocol');
  }

  listing(id: AddressId): Readonly<StateOf<'listing'>> | null {
    return this.#state(id, 'listing');
  }

  escrow(listing: AddressId): Readonly<StateOf<'escrow'>> | null {
    return this.#state(this.escrowOf(listing), 'escrow');
  }

  credential(buyer: AddressId, listing: AddressId): Readonly<StateOf<'access_credential'>> | null {
    return this.#state(this.universe.credentialOf(buyer, listing), 'access_credential');
  }

  balance(buyer: AddressId, listing: AddressId): Readonly<StateOf<'per_query_balance'>> | null {
    return this.#state(this.universe.balanceOf(buyer, listing), 'per_query_balance');
  }

  /** The highest charged sequence of a balance. */
  highest(buyer: AddressId, listing: AddressId): bigint {
    return highestOf(this.balance(buyer, listing)?.charged ?? []);
  }

  escrowOf(listing: AddressId): AddressId {
    return this.universe.derived('escrow', listing) ?? this.universe.absent;
  }

  /** Whether an address has a valid account of the program. */
  isOurs(id: AddressId): boolean {
    return this.ledger.get(id).data.type !== 'raw';
  }

  /** Whether an existing listing passes the test. */
  hasListing(passes: ListingTest): boolean {
    return this.universe.listings.some((id) => {
      const listing = this.listing(id);
      return listing !== null && passes(listing, id);
    });
  }

  /** Whether a wallet's credential of a listing passes the test. Default: it is not revoked. */
  isRented(listing: AddressId, passes: CredentialTest = ({ valid }) => valid): boolean {
    return this.universe.walletIds.some((wallet) => {
      const credential = this.credential(wallet, listing);
      return credential !== null && passes(credential);
    });
  }

  /** The existing listings that pass the test, or all listings when none passes. */
  listings(passes: ListingTest): readonly AddressId[] {
    const found = this.universe.listings.filter((id) => {
      const listing = this.listing(id);
      return listing !== null && passes(listing, id);
    });
    return found.length > 0 ? found : this.universe.listings;
  }

  /** The wallets whose credential of the listing passes the test, or all wallets when none does. */
  holders(listing: AddressId, passes: CredentialTest = () => true): readonly AddressId[] {
    const found = this.universe.walletIds.filter((buyer) => {
      const credential = this.credential(buyer, listing);
      return credential !== null && passes(credential);
    });
    return found.length > 0 ? found : this.universe.walletIds;
  }

  /** Every account in the instructions of a listing and a buyer. */
  accountsOf(listing: AddressId, buyer: AddressId = this.universe.wallets.buyer): Record<string, AddressId> {
    const { universe, protocol } = this;
    return {
      protocol: universe.protocol,
      listing,
      escrow: this.escrowOf(listing),
      buyer,
      access_credential: universe.credentialOf(buyer, listing),
      per_query_balance: universe.balanceOf(buyer, listing),
      treasury: protocol?.treasury ?? universe.wallets.treasury,
      system_program: universe.systemProgram,
      creator: this.listing(listing)?.creator ?? universe.wallets.creator,
      admin: protocol?.admin ?? universe.wallets.admin,
      authority: protocol?.authority ?? universe.wallets.authority,
    };
  }

  /** One of the hot keys. */
  hotKey(): AddressId {
    const { protocol, universe } = this;
    if (protocol === null) {
      return universe.wallets.authority;
    }
    const isRotating = protocol.nextAuthority !== universe.systemProgram;
    return this.chance(isRotating ? 40 : 3) ? protocol.nextAuthority : protocol.authority;
  }

  /** Mostly a Per-Task listing with one of the statuses, and a wallet that rents it. */
  perQueryRental(...statuses: number[]): Rental {
    const listing = this.pick(
      this.listings(
        (state, id) =>
          state.model === MODEL.perQuery &&
          (this.chance(5) || (statuses.includes(state.status) && this.isRented(id))),
      ),
    );
    return { listing, buyer: this.pick(this.holders(listing, ({ valid }) => valid || this.chance(5))) };
  }

  /** A number of 64 bits near a given one, at a limit, or random. */
  amountNear(...interesting: bigint[]): bigint {
    const roll = this.below(10);
    if (roll < 7 && interesting.length > 0) {
      const offset = this.chance(60) ? 0n : BigInt(this.below(5) - 2);
      return clamp(this.pick(interesting) + offset);
    }
    return roll < 9 ? this.pick([0n, 1n, MIN_PRICE, MAX_PRICE, MAX_PRICE + 1n, U64_MAX]) : this.anyLength();
  }

  /** An allowed price of any size. */
  allowedPrice(floor: bigint): bigint {
    const roll = this.below(10);
    if (roll === 0) {
      return this.pick([floor, floor + 1n, MAX_PRICE - 1n, MAX_PRICE]);
    }
    const price = floor + (this.anyLength() % (roll < 8 ? 10n ** 10n : MAX_PRICE));
    return price > MAX_PRICE ? MAX_PRICE : price;
  }

  /** A duration, mostly an offered one. */
  duration(): bigint {
    return this.chance(90) ? this.pick(DURATIONS) : this.amountNear(...DURATIONS);
  }
}
