import type { AddressId, Universe } from '../world/universe.js';
import { NO_DATA, type ModelAccount } from './state.js';

/** What makes an account rent-exempt: lamports per byte, times a threshold in years. */
export interface Rent {
  lamportsPerByte: bigint;
  threshold: number;
}

/** The lamports that make an account of `size` bytes rent-exempt, as the runtime reckons. */
export function rentExemptMinimum(rent: Rent, size: number): bigint {
  const perYear = BigInt(size + 128) * rent.lamportsPerByte;
  return Number.isInteger(rent.threshold)
    ? perYear * BigInt(rent.threshold)
    : BigInt(Math.floor(Number(perYear) * rent.threshold));
}

/** The accounts of a world, its clock and its rent: all that decides how an instruction ends. */
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

  /** The account at an address; an empty one when nothing is there. Never to be changed. */
  get(id: AddressId): Readonly<ModelAccount> {
    return this.accounts.get(id) ?? { lamports: 0n, owner: this.universe.systemProgram, data: NO_DATA };
  }

  /** Replaces an account; one without lamports is gone. */
  set(id: AddressId, account: ModelAccount): void {
    if (account.lamports === 0n) {
      this.accounts.delete(id);
    } else {
      this.accounts.set(id, account);
    }
  }
}

/** What one instruction changes, kept apart until it has succeeded. */
export class Draft {
  readonly ledger: Ledger;
  readonly #changed = new Map<AddressId, ModelAccount>();

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  /** The account as it is after what the instruction has done so far. */
  read(id: AddressId): Readonly<ModelAccount> {
    return this.#changed.get(id) ?? this.ledger.get(id);
  }

  /** The account, to be changed. */
  write(id: AddressId): ModelAccount {
    let account = this.#changed.get(id);
    if (account === undefined) {
      const { lamports, owner, data } = this.ledger.get(id);
      account = { lamports, owner, data: data.type === 'raw' ? data : { ...data } };
      this.#changed.set(id, account);
    }
    return account;
  }

  /** Makes the changes the ledger's. */
  commit(): void {
    for (const [id, account] of this.#changed) {
      this.ledger.set(id, account);
    }
  }
}
