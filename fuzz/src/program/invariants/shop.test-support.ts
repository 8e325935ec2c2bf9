import { Scene } from '../generator/scene.js';
import type { Values } from '../model/borsh.js';
import type { Verdict } from '../model/errors.js';
import { encodeData, metasOf, type InstructionName } from '../model/instruction-table.js';
import { MODEL } from '../model/state.js';
import { Chain } from '../world/chain.js';
import { LISTING_IDS, Universe } from '../world/universe.js';
import { World } from '../world/world.js';

/** The index of the prepaid listing. */
export const PER_QUERY = 0;

/** Lamports of the three parties to a price. */
export interface Balances {
  buyer: bigint;
  escrow: bigint;
  treasury: bigint;
}

/**
 * A world with a protocol and listings, for tests of the program's own charges. Every step is also compared with the model.
 */
export class Shop {
  readonly universe: Universe;
  readonly world: World;
  readonly #chain: Chain;
  readonly #scene: Scene;

  /** Opens a shop with a Per-Task listing at 1,000 lamports that the buyer has prepaid. */
  constructor(so: Uint8Array, seed: number) {
    this.universe = new Universe(seed);
    this.#chain = new Chain(this.universe, so);
    this.world = new World(this.#chain);
    this.#scene = new Scene(this.world.ledger, seed);
    const { admin, authority } = this.universe.wallets;
    this.succeed('initialize_protocol', PER_QUERY, {
      admin: this.universe.key(admin),
      authority: this.universe.key(authority),
      fee_bps: 0,
      min_query_price_lamports: 1_000n,
    });
    this.list(PER_QUERY, MODEL.perQuery, 1_000n);
    this.succeed('purchase_per_query', PER_QUERY, {
      deposit_lamports: 10n ** 16n,
      max_price_lamports: 2n ** 64n - 1n,
    });
  }

  #listing(index: number): number {
    return this.universe.listings[index] ?? this.universe.absent;
  }

  /** Sends an instruction of a listing with its right accounts. @returns its verdict */
  send(name: InstructionName, listing: number, args: Values): Verdict {
    const { universe } = this;
    const accounts = {
      ...this.#scene.accountsOf(this.#listing(listing)),
      upgrade_authority: universe.wallets.upgradeAuthority,
      program_data: universe.programData,
      new_treasury: universe.program,
    };
    const metas = metasOf(name, accounts, universe.absent);
    return this.world.step({ kind: 'instruction', data: encodeData(name, args), metas })?.verdict ?? null;
  }

  /** Sends an instruction that must succeed. @throws Error if it is refused */
  succeed(name: InstructionName, listing: number, args: Values): void {
    const verdict = this.send(name, listing, args);
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
    const prices = { price_lamports: priceLamports, min_deposit_lamports: priceLamports };
    this.succeed('update_listing', index, { ...prices, metadata_uri: null, paused: null });
  }

  /** Changes the fee. */
  setFee(feeBps: number): void {
    const roles = { pending_admin: null, authority: null, next_authority: null };
    const rest = { min_query_price_lamports: null, paused: null };
    this.succeed('update_protocol', PER_QUERY, { ...roles, fee_bps: feeBps, ...rest });
  }

  /** Charges a sequence of the prepaid balance, at the listing's price. */
  consume(sequence: bigint): Verdict {
    const price = this.#scene.listing(this.#listing(PER_QUERY))?.price ?? 0n;
    return this.send('consume_query', PER_QUERY, {
      sequence,
      run_id: new Uint8Array(16),
      price_lamports: price,
    });
  }

  /** The parties' lamports on the chain. */
  balances(index: number): Balances {
    const { buyer = 0, escrow = 0, treasury = 0 } = this.#scene.accountsOf(this.#listing(index));
    const lamports = (id: number): bigint => this.#chain.account(id)?.lamports ?? 0n;
    return { buyer: lamports(buyer), escrow: lamports(escrow), treasury: lamports(treasury) };
  }
}
