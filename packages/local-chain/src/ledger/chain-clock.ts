import type { SlotAnchor } from '../storage/genesis.js';
import { CONSENSUS, type Consensus } from './consensus.js';

/** The time on the chain. Block height equals slot: no slot is ever skipped. */
export interface ChainMoment {
  slot: number;
  /** The newest finalized slot. */
  rootSlot: number;
  /** The newest confirmed slot. */
  confirmedSlot: number;
  unixMs: number;
}

interface ChainClockOptions {
  anchor: SlotAnchor;
  consensus: Consensus;
  /** A slot is finalized when this many newer ones exist. */
  finalizedSlots: number;
  /** The latest chain time known from before: the clock does not go behind it. */
  unixMs: number;
  /** How far warps have moved the chain ahead of the wall clock. */
  offsetMs: number;
  /** The wall clock; `Date.now` unless a test sets another one. */
  wallMs?: () => number;
}

/**
 * Chain time follows the wall clock and never goes back; slots follow chain time, also while the chain is down.
 * When the wall clock is set back, the chain runs on from where it was.
 */
export class ChainClock {
  readonly #anchor: SlotAnchor;
  readonly #wallMs: () => number;
  #consensus: Consensus;
  #finalizedSlots: number;
  #unixMs: number;
  #offsetMs: number;
  #lastWallMs: number;

  constructor(options: ChainClockOptions) {
    this.#anchor = options.anchor;
    this.#consensus = options.consensus;
    this.#finalizedSlots = options.finalizedSlots;
    this.#wallMs = options.wallMs ?? Date.now;
    this.#lastWallMs = this.#wallMs();
    this.#offsetMs = options.offsetMs;
    this.#unixMs = Math.max(options.unixMs, options.anchor.unixMs, this.#lastWallMs + options.offsetMs);
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  get consensus(): Consensus {
    return this.#consensus;
  }

  /** Moves the chain from tower to Alpenglow. The length of a slot stays. */
  migrate(): void {
    this.#consensus = 'alpenglow';
    this.#finalizedSlots = Math.min(this.#finalizedSlots, CONSENSUS.alpenglow.finalizedSlots);
  }

  now(): ChainMoment {
    const wallMs = this.#wallMs();
    this.#unixMs += Math.max(0, wallMs - this.#lastWallMs);
    this.#lastWallMs = wallMs;
    const slot = slotAt(this.#anchor, this.#unixMs);
    const rootSlot = Math.max(0, slot - this.#finalizedSlots);
    const confirmedSlot = this.#consensus === 'alpenglow' ? rootSlot : slot;
    return { slot, rootSlot, confirmedSlot, unixMs: this.#unixMs };
  }

  /**
   * Moves chain time forward, to the first slot that begins at the requested time or later. Programs see the start time of
   * their slot, and must not see a time before the requested one. Times that are not in the future change nothing.
   */
  warpTo(unixMs: number): ChainMoment {
    const current = this.now();
    if (unixMs <= current.unixMs) return current;
    const slot = slotAt(this.#anchor, unixMs);
    const start = this.startOf(slot) < unixMs ? this.startOf(slot + 1) : this.startOf(slot);
    const aheadMs = start - current.unixMs;
    this.#unixMs += aheadMs;
    this.#offsetMs += aheadMs;
    return this.now();
  }

  /** Chain time at which a slot begins. */
  startOf(slot: number): number {
    return this.#anchor.unixMs + (slot - this.#anchor.slot) * this.#anchor.slotTimeMs;
  }
}

export function slotAt(anchor: SlotAnchor, unixMs: number): number {
  return anchor.slot + Math.max(0, Math.floor((unixMs - anchor.unixMs) / anchor.slotTimeMs));
}
