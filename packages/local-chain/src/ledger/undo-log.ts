import { addressFromKey, addressKey, type AccountState, type AddressedAccount } from './account-state.js';

/** The state of an unfinalized transaction's accounts before it. */
export interface UndoEntry {
  slot: number;
  /** The transaction's number in the history. */
  number: number;
  before: AddressedAccount[];
}

/** A stored entry. It copies its bytes: thousands of entries a second must not keep their read buffers in memory. */
interface KeptEntry {
  slot: number;
  number: number;
  before: { key: string; account: AccountState | null }[];
}

const MAX_SHARED_OWNERS = 1_000;
const NO_DATA = new Uint8Array();

/**
 * Keeps, for the slots that are not finalized yet, the earlier state of every changed account. That answers reads at
 * commitment `finalized` exactly, and lets a fork take transactions back. Holds the last ~32 slots and no more.
 */
export class UndoLog {
  #entries: KeptEntry[] = [];
  /** Per changed account its earlier states, oldest first. */
  readonly #earlier = new Map<string, (AccountState | null)[]>();
  /** Shared owner bytes: most accounts have one of a few owners. */
  readonly #owners = new Map<string, Uint8Array>();

  get newest(): number | undefined {
    return this.#entries.at(-1)?.number;
  }

  get numbers(): number[] {
    return this.#entries.map(({ number }) => number);
  }

  entries(): UndoEntry[] {
    return this.#entries.map(shownEntry);
  }

  push({ slot, number, before }: UndoEntry): void {
    const kept = before.map(({ address, account }) => ({
      key: addressKey(address),
      account: account === null ? null : this.#detached(account),
    }));
    this.#entries.push({ slot, number, before: kept });
    for (const { key, account } of kept) {
      const states = this.#earlier.get(key);
      if (states === undefined) this.#earlier.set(key, [account]);
      else states.push(account);
    }
  }

  /** The state of the account at the end of the finalized slot; undefined when it has not changed since. */
  finalizedState(key: string): AccountState | null | undefined {
    return this.#earlier.get(key)?.[0];
  }

  /** The accounts that changed since the finalized slot, with their state at that slot. */
  *finalizedStates(): Generator<[key: string, account: AccountState | null]> {
    for (const [key, states] of this.#earlier) {
      const oldest = states[0];
      if (oldest !== undefined) yield [key, oldest];
    }
  }

  /** Forgets the transactions up to the newly finalized slot and returns their numbers, oldest first. */
  finalize(rootSlot: number): number[] {
    let count = 0;
    while ((this.#entries[count]?.slot ?? Infinity) <= rootSlot) count += 1;
    if (count === 0) return [];
    const finalized = this.#entries.slice(0, count);
    this.#entries = this.#entries.slice(count);
    for (const entry of finalized) {
      for (const { key } of entry.before) this.#removeEarlier(key, 'oldest');
    }
    return finalized.map(({ number }) => number);
  }

  pop(): UndoEntry | undefined {
    const entry = this.#entries.pop();
    for (const { key } of entry?.before ?? []) this.#removeEarlier(key, 'newest');
    return entry === undefined ? undefined : shownEntry(entry);
  }

  #detached(account: AccountState): AccountState {
    const ownerKey = addressKey(account.owner);
    if (this.#owners.size > MAX_SHARED_OWNERS) this.#owners.clear();
    const owner = this.#owners.get(ownerKey) ?? Uint8Array.from(account.owner);
    this.#owners.set(ownerKey, owner);
    const data = account.data.length === 0 ? NO_DATA : Uint8Array.from(account.data);
    return { lamports: account.lamports, executable: account.executable, owner, data };
  }

  #removeEarlier(key: string, which: 'oldest' | 'newest'): void {
    const states = this.#earlier.get(key);
    if (states === undefined) return;
    if (which === 'oldest') states.shift();
    else states.pop();
    if (states.length === 0) this.#earlier.delete(key);
  }
}

function shownEntry({ slot, number, before }: KeptEntry): UndoEntry {
  return {
    slot,
    number,
    before: before.map(({ key, account }): AddressedAccount => ({ address: addressFromKey(key), account })),
  };
}
