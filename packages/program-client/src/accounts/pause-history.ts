/**
 * The ended pauses of a listing, as its account keeps them.
 *
 * Paused seconds are counted in order, and each 43,200 of them are one unit. A unit is dated by the half day (from 1970)
 * in which its last second lies.
 */
export interface PauseHistory {
  /** Bit i is set when a unit was completed in the half day `latest - i`. */
  units: bigint;
  /** The half day in which the last pause ended; 0 before the first. */
  latest: number;
  /** The paused seconds since the last unit was completed. */
  remainderSeconds: number;
}
