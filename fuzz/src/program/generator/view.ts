import type { Ledger } from '../model/ledger.js';
import type {
  BalanceState,
  CredentialState,
  EscrowState,
  ListingState,
  ProgramState,
  ProtocolState,
} from '../model/state.js';
import type { AddressId, Universe } from '../world/universe.js';

/** What the generator sees of a world, so that most of what it makes up has a chance. */
export class View {
  readonly ledger: Ledger;
  readonly universe: Universe;

  constructor(ledger: Ledger) {
    this.ledger = ledger;
    this.universe = ledger.universe;
  }

  #state<T extends ProgramState['type']>(
    id: AddressId | null,
    type: T,
  ): Readonly<Extract<ProgramState, { type: T }>> | null {
    const data = id === null ? null : this.ledger.get(id).data;
    return data?.type === type ? (data as Extract<ProgramState, { type: T }>) : null;
  }

  get protocol(): Readonly<ProtocolState> | null {
    return this.#state(this.universe.protocol, 'protocol');
  }

  listing(id: AddressId): Readonly<ListingState> | null {
    return this.#state(id, 'listing');
  }

  escrow(listing: AddressId): Readonly<EscrowState> | null {
    return this.#state(this.escrowOf(listing), 'escrow');
  }

  credential(buyer: AddressId, listing: AddressId): Readonly<CredentialState> | null {
    return this.#state(this.credentialOf(buyer, listing), 'access_credential');
  }

  balance(buyer: AddressId, listing: AddressId): Readonly<BalanceState> | null {
    return this.#state(this.balanceOf(buyer, listing), 'per_query_balance');
  }

  escrowOf(listing: AddressId): AddressId {
    return this.universe.derived('escrow', listing) ?? this.universe.absent;
  }

  credentialOf(buyer: AddressId, listing: AddressId): AddressId {
    return this.universe.credentialOf(buyer, listing);
  }

  balanceOf(buyer: AddressId, listing: AddressId): AddressId {
    return this.universe.balanceOf(buyer, listing);
  }

  /** The listings that exist and pass the test; all of them when none passes. */
  listings(passes: (listing: Readonly<ListingState>, id: AddressId) => boolean): readonly AddressId[] {
    const found = this.universe.listings.filter((id) => {
      const listing = this.listing(id);
      return listing !== null && passes(listing, id);
    });
    return found.length > 0 ? found : this.universe.listings;
  }

  /** The wallets that hold a credential of the listing that passes the test; all wallets when none does. */
  holders(
    listing: AddressId,
    passes: (credential: Readonly<CredentialState>) => boolean,
  ): readonly AddressId[] {
    const found = this.universe.walletIds.filter((buyer) => {
      const credential = this.credential(buyer, listing);
      return credential !== null && passes(credential);
    });
    return found.length > 0 ? found : this.universe.walletIds;
  }
}
