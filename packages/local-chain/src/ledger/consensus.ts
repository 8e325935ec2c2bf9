/**
 * How a chain comes to finality.
 *
 * - `alpenglow` (SIMD-0326): `confirmed` and `finalized` name the same block.
 * - `tower`: a block is `confirmed` at once, and `finalized` 32 slots later.
 */
export type Consensus = 'alpenglow' | 'tower';

/** The length of a slot, and how many newer slots make a slot finalized. */
export const CONSENSUS: Record<Consensus, { slotTimeMs: number; finalizedSlots: number }> = {
  alpenglow: { slotTimeMs: 200, finalizedSlots: 2 },
  tower: { slotTimeMs: 400, finalizedSlots: 32 },
};
