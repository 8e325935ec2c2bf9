import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { deriveSecret, type Genesis } from '../../storage/genesis.js';

/** A transaction may use the blockhash of any of this many slots before the current one, as on a real cluster. */
export const MAX_BLOCKHASH_AGE_SLOTS = 150;

/**
 * The hash of each slot, derived from the chain's secret seed. So the window of recent blockhashes needs no storage:
 * a transaction signed before a crash is still valid after it.
 */
export class Blockhashes {
  readonly #secret: Buffer;
  /** The slots from `slot - 150` on, oldest first. */
  readonly #slotByHash = new Map<string, number>();
  readonly #hashBySlot = new Map<number, string>();
  #newest = -1;

  constructor(genesis: Genesis) {
    this.#secret = deriveSecret(genesis, 'blockhash');
  }

  hashOf(slot: number): string {
    return this.#hashBySlot.get(slot) ?? this.#derive(slot);
  }

  /** The slot of a recent blockhash; undefined when it is unknown or older than 150 slots at `currentSlot`. */
  slotOf(hash: string, currentSlot: number): number | undefined {
    this.#advance(currentSlot);
    return this.#slotByHash.get(hash);
  }

  /** The window before the current slot, newest first, as the SlotHashes sysvar lists it. */
  before(currentSlot: number): { slot: bigint; hash: string }[] {
    this.#advance(currentSlot);
    return [...this.#hashBySlot]
      .filter(([slot]) => slot < currentSlot)
      .toReversed()
      .map(([slot, hash]) => ({ slot: BigInt(slot), hash }));
  }

  #advance(currentSlot: number): void {
    const oldest = Math.max(0, currentSlot - MAX_BLOCKHASH_AGE_SLOTS);
    for (let slot = Math.max(this.#newest + 1, oldest); slot <= currentSlot; slot += 1) {
      const hash = this.#derive(slot);
      this.#slotByHash.set(hash, slot);
      this.#hashBySlot.set(slot, hash);
      this.#newest = slot;
    }
    for (const [slot, hash] of this.#hashBySlot) {
      if (slot >= oldest) break;
      this.#hashBySlot.delete(slot);
      this.#slotByHash.delete(hash);
    }
  }

  #derive(slot: number): string {
    const slotBytes = Buffer.alloc(8);
    slotBytes.writeBigUInt64LE(BigInt(slot));
    return bs58.encode(createHash('sha256').update(this.#secret).update(slotBytes).digest());
  }
}
