import { Chain } from './chain.js';
import { type Values } from '../model/borsh.js';
import { encodeData } from '../model/instruction-table.js';
import type { Verdict } from '../model/errors.js';
import { instructionRule, type InstructionName } from '../model/instruction-table.js';
import { MODEL } from '../model/state.js';
import { LISTING_IDS, Universe, type AddressId } from './universe.js';
import { World } from './world.js';

/** Lamports of the three who share a price. */
export interface Balances {
  buyer: bigint;
  escrow: bigint;
  treasury: bigint;
}

/**
 * A world with a protocol and listings, for tests that ask the program itself what it charges. Every step is also
 * compared with the model.
 */
export class Shop {
  readonly universe: Universe;
  readonly world: World;
  readonly #chain: Chain;
  #price = 1_000n;

  /** Opens a shop with a Per-Task listing at 1,000 lamports that the buyer has prepaid. */
  constructor(so: Uint8Array, seed: number) {
    this.universe = new Universe(seed);
    this.#chain = new Chain(this.universe, so);
    this.world = new World(this.#chain);
    const { wallets } = this.universe;
    this.succeed('initialize_protocol', 0, {
      admin: this.universe.key(wallets.admin),
      authority: this.universe.key(wallets.authority),
      fee_bps: 0,
      min_query_price_lamports: 1_000n,
    });
    this.list(PER_QUERY, MODEL.perQuery, 1_000n);
    this.succeed('purchase_per_query', PER_QUERY, {
      deposit_lamports: 10n ** 16n,
      max_price_lamports: 2n ** 64n - 1n,
    });
  }

  #accounts(listingIndex: number, buyer: AddressId): Record<string, AddressId> {
    const { universe } = this;
    const { wallets } = universe;
    const listing = universe.listings[listingIndex] ?? universe.absent;
    return {
      upgrade_authority: wallets.upgradeAuthority,
      program_data: universe.programData,
      admin: wallets.admin,
      authority: wallets.authority,
      creator: wallets.creator,
      treasury: wallets.treasury,
      new_treasury: universe.program,
      protocol: universe.protocol,
      listing,
      escrow: universe.escrows[listingIndex] ?? universe.absent,
      buyer,
      access_credential: universe.credentialOf(buyer, listing),
      per_query_balance: universe.balanceOf(buyer, listing),
      system_program: universe.systemProgram,
    };
  }

  /** Sends an instruction of a listing with its right accounts, and gives how it ended. */
  send(name: InstructionName, listing: number, args: Values, buyer = this.universe.wallets.buyer): Verdict {
    const accounts = this.#accounts(listing, buyer);
    const metas = instructionRule(name).accounts.map((rule) => ({
      id: accounts[rule.name] ?? this.universe.absent,
      isSigner: rule.signer === true,
      isWritable: rule.writable === true,
    }));
    return this.world.step({ kind: 'instruction', data: encodeData(name, args), metas })?.verdict ?? null;
  }

  /** As {@link send}, and fails unless it succeeds. */
  succeed(name: InstructionName, listing: number, args: Values, buyer = this.universe.wallets.buyer): void {
    const verdict = this.send(name, listing, args, buyer);
    if (verdict !== null) {
      throw new Error(`${name} was refused with ${verdict}.`);
    }
  }

  /** Creates a listing. */
  list(index: number, model: number, priceLamports: bigint): void {
    this.succeed('create_listing', index, {
      listing_id: LISTING_IDS[index] ?? '',
      rental_model: model,
      price_lamports: priceLamports,
      min_deposit_lamports: priceLamports,
      metadata_uri: '',
    });
  }

  /** Changes a listing's price. */
  reprice(index: number, priceLamports: bigint): void {
    this.#price = index === PER_QUERY ? priceLamports : this.#price;
    this.succeed('update_listing', index, {
      price_lamports: priceLamports,
      min_deposit_lamports: priceLamports,
      metadata_uri: null,
      paused: null,
    });
  }

  /** Changes the fee. */
  setFee(feeBps: number): void {
    this.succeed('update_protocol', 0, {
      pending_admin: null,
      authority: null,
      next_authority: null,
      fee_bps: feeBps,
      min_query_price_lamports: null,
      paused: null,
    });
  }

  /** Charges a sequence of the prepaid balance, at the listing's price. */
  consume(sequence: bigint): Verdict {
    return this.send('consume_query', PER_QUERY, {
      sequence,
      run_id: new Uint8Array(16),
      price_lamports: this.#price,
    });
  }

  /** What the parties to a sale hold on the chain. */
  balances(index: number, buyer = this.universe.wallets.buyer): Balances {
    const { escrow = 0, treasury = 0 } = this.#accounts(index, buyer);
    const lamports = (id: AddressId): bigint => this.#chain.account(id)?.lamports ?? 0n;
    return { buyer: lamports(buyer), escrow: lamports(escrow), treasury: lamports(treasury) };
  }
}

/** The place of the prepaid listing. */
export const PER_QUERY = 0;
