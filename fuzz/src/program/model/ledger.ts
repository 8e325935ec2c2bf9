import type { AddressId, Universe } from '../world/universe.js';
import { NO_DATA, type ModelAccount } from './state.js';

/** The rent: lamports per byte and year, and the years that make an account rent-exempt. */
export interface Rent {
  lamportsPerByte: bigint;
  threshold: number;
}

/** The runtime's calculation of the lamports that make an account of `size` bytes rent-exempt. */
export function rentExemptMinimum(rent: Rent, size: number): bigint {
  const perYear = BigInt(size + 128) * rent.lamportsPerByte;
  return Number.isInteger(rent.threshold)
    ? perYear * BigInt(rent.threshold)
    : BigInt(Math.floor(Number(perYear) * rent.threshold));
}

/** A world's accounts, clock and rent: all inputs to an instruction's result. */
export class Ledger {
  readonly universe: Universe;
  readonly accounts = new Map<AddressId, ModelAccount>();
  /** Unix seconds. */
  now = 0n;
  rent: Rent;

  constructor(universe: Universe, rent: Rent) {
    this.universe = universe;
    this.rent = rent;
  }

  /** The account at an address, or an empty one. Callers must not change it. */
  get(id: AddressId): Readonly<ModelAccount> {
    return this.accounts.get(id) ?? { lamports: 0n, owner: this.universe.systemProgram, data: NO_DATA };
  }

  /** Replaces an account, or removes it when it has no lamports. */
  set(id: AddressId, account: ModelAccount): void {
    if (account.lamports === 0n) {
      this.accounts.delete(id);
    } else {
      this.accounts.set(id, account);
    }
  }
}

/** The changes of one instruction, until its success. */
export class Draft {
  readonly ledger: Ledger;
  readonly #changed = new Map<AddressId, ModelAccount>();

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  /** The account after the instruction's changes so far. */
  read(id: AddressId): Readonly<ModelAccount> {
    return this.#changed.get(id) ?? this.ledger.get(id);
  }

  /** A changeable copy of the account. */
  write(id: AddressId): ModelAccount {
    let account = this.#changed.get(id);
    if (account === undefined) {
      const { lamports, owner, data } = this.ledger.get(id);
      account = { lamports, owner, data: data.type === 'raw' ? data : { ...data } };
      this.#changed.set(id, account);
    }
    return account;
  }

  /** Writes the changes to the ledger. */
  commit(): void {
    for (const [id, account] of this.#changed) {
      this.ledger.set(id, account);
    }
  }
}
