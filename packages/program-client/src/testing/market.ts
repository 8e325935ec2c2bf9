import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  findProtocolAddress,
} from '../accounts/addresses.js';
import {
  decodeAccessCredential,
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  decodeProtocol,
} from '../accounts/accounts.js';
import {
  consumeQuery,
  revokePerQueryAccess,
  verifyAccess,
  type ConsumeQueryInput,
} from '../instructions/access.js';
import {
  closeListing,
  createListing,
  moderateListing,
  updateListing,
  withdrawEarnings,
  type UpdateListingInput,
} from '../instructions/listing.js';
import { initializeProtocol, updateProtocol, type UpdateProtocolInput } from '../instructions/protocol.js';
import { purchaseOneTime, purchasePerQuery, purchaseSubscription } from '../instructions/rental.js';
import type { RentalModel } from '../rental-model.js';
import { TestChain, type Outcome } from './chain.js';

/** The price of the listings that tests create, in lamports. */
export const PRICE = 1_000_000n;
/** The first deposit that tests make, in lamports. */
export const DEPOSIT = 10_000_000n;
/** 30 days in seconds. */
export const MONTH = 2_592_000n;

/** A chain with an initialised protocol, and shorthands for the first steps of most tests. */
export class Market {
  readonly chain = new TestChain();
  readonly admin = this.chain.wallet();
  readonly authority = this.chain.wallet();
  readonly treasury = this.chain.wallet();
  readonly creator = this.chain.wallet();
  readonly buyer = this.chain.wallet();
  #listings = 0;
  #runs = 0;

  constructor() {
    const { chain, admin, authority, treasury } = this;
    const { upgradeAuthority } = chain;
    chain.fund(upgradeAuthority, 1_000_000_000n);
    chain.succeed(initializeProtocol({ upgradeAuthority, admin, authority, treasury }));
  }

  /** Creates a listing and gives its id. */
  list(rentalModel: RentalModel, priceLamports = PRICE, listingId = `agent-${this.#listings + 1}`): string {
    this.#listings += 1;
    this.chain.succeed(
      createListing({
        creator: this.creator,
        authority: this.authority,
        listingId,
        rentalModel,
        priceLamports,
        minDepositLamports: priceLamports,
        metadataUri: 'ipfs://bafyexample',
      }),
    );
    return listingId;
  }

  /** Rents a listing by its own model. */
  rent(listingId: string, buyer = this.buyer, durationSeconds = MONTH): Outcome {
    const common = { buyer, listingId, treasury: this.treasury, maxPriceLamports: 10n ** 18n };
    const instructions: Record<RentalModel, () => TransactionInstruction> = {
      one_time: () => purchaseOneTime(common),
      subscription: () => purchaseSubscription({ ...common, durationSeconds }),
      per_query: () => purchasePerQuery({ ...common, maxPriceLamports: PRICE, depositLamports: DEPOSIT }),
    };
    return this.chain.succeed(instructions[this.listing(listingId).rentalModel]());
  }

  /** The instruction that charges one run; sequences count up from 1, and the price is the present one. */
  charge(listingId: string, sequence?: bigint, changes: Partial<ConsumeQueryInput> = {}) {
    this.#runs += 1;
    return consumeQuery({
      authority: this.authority,
      buyer: this.buyer,
      listingId,
      treasury: this.treasury,
      sequence: sequence ?? BigInt(this.#runs),
      runId: new Uint8Array(16).fill(this.#runs % 256),
      priceLamports: this.listing(listingId).priceLamports,
      ...changes,
    });
  }

  /** The instruction that closes a listing. */
  close(listingId: string, creator = this.creator): TransactionInstruction {
    return closeListing({ creator, listingId });
  }

  /** The instruction that suspends a listing, or lifts that. */
  moderate(listingId: string, suspended: boolean, admin = this.admin): TransactionInstruction {
    return moderateListing({ admin, listingId, suspended });
  }

  /** The instruction that withdraws earnings; without an amount all of them. */
  withdraw(listingId: string, amountLamports?: bigint, creator = this.creator): TransactionInstruction {
    return withdrawEarnings({ creator, listingId, amountLamports });
  }

  /** The instruction that ends a buyer's per-query access. */
  revoke(listingId: string, revoker: PublicKey, buyer = this.buyer): TransactionInstruction {
    return revokePerQueryAccess({ revoker, buyer, listingId });
  }

  /** Runs `verify_access`; fails the test when it does not answer. */
  verify(listingId: string, buyer = this.buyer): Outcome {
    const outcome = this.chain.simulate(verifyAccess({ buyer, listingId }));
    if (outcome.error !== null || outcome.returnData.length !== 1) {
      throw new Error(`verify_access failed with ${outcome.error}:\n${outcome.logs.join('\n')}`);
    }
    return outcome;
  }

  /** The answer of `verify_access`. */
  hasAccess(listingId: string, buyer = this.buyer): boolean {
    return this.verify(listingId, buyer).returnData[0] === 1;
  }

  /** Changes the protocol as its admin. */
  updateProtocol(changes: Omit<UpdateProtocolInput, 'admin'>): Outcome {
    return this.chain.succeed(updateProtocol({ admin: this.admin, ...changes }));
  }

  /** Changes a listing as its creator. */
  updateListing(listingId: string, changes: Omit<UpdateListingInput, 'creator' | 'listingId'>): Outcome {
    return this.chain.succeed(updateListing({ creator: this.creator, listingId, ...changes }));
  }

  addresses(listingId: string, buyer = this.buyer) {
    const listing = findListingAddress(listingId).address;
    return {
      protocol: findProtocolAddress().address,
      listing,
      escrow: findEscrowAddress(listing).address,
      credential: findAccessCredentialAddress(buyer, listing).address,
      balance: findPerQueryBalanceAddress(buyer, listing).address,
    };
  }

  protocol() {
    return decodeProtocol(this.chain.data(findProtocolAddress().address));
  }

  listing(listingId: string) {
    return decodeListing(this.chain.data(this.addresses(listingId).listing));
  }

  escrow(listingId: string) {
    return decodeEscrow(this.chain.data(this.addresses(listingId).escrow));
  }

  credential(listingId: string, buyer = this.buyer) {
    return decodeAccessCredential(this.chain.data(this.addresses(listingId, buyer).credential));
  }

  balance(listingId: string, buyer = this.buyer) {
    return decodePerQueryBalance(this.chain.data(this.addresses(listingId, buyer).balance));
  }
}
