import type { Listing, PerQueryBalance } from './accounts.js';

/** How long a listing must have been paused within 30 days for a renter to reclaim a balance, in seconds: 7 days. */
export const RECLAIM_AFTER_PAUSED_SECONDS = 604_800n;

/** The time within which the pauses of a listing are added up, in seconds: 30 days. */
export const PAUSE_WINDOW_SECONDS = 2_592_000n;

/** The unit in which the pauses are kept, in seconds: half a day. The count exceeds the truth by less than one. */
export const PAUSE_UNIT_SECONDS = 43_200n;

/** Why a renter may reclaim a balance. */
export type ReclaimReason = 'closed' | 'suspended' | 'price_above_limit' | 'paused';

type Pauses = Pick<Listing, 'status' | 'pausedAt' | 'pauseHistory'>;
type Terms = Pauses & Pick<Listing, 'priceLamports'>;
type Agreement = Pick<PerQueryBalance, 'maxPriceLamports'>;

const WINDOW_UNITS = PAUSE_WINDOW_SECONDS / PAUSE_UNIT_SECONDS;
const LAST_HALF_DAY = 2n ** 32n - 1n;

function halfDay(unixSeconds: bigint): bigint {
  const number = unixSeconds / PAUSE_UNIT_SECONDS;
  return number < LAST_HALF_DAY ? number : LAST_HALF_DAY;
}

function since1970(time: bigint): bigint {
  return time > 0n ? time : 0n;
}

/**
 * The paused seconds of a listing that count at a time: at least its pauses of the 30 days before. They are less than its
 * pauses of the 30.5 days before plus half a day. A pause that goes on counts whole. A suspension is a pause.
 *
 * @param now Unix seconds, by the cluster's clock
 */
export function pausedSeconds({ status, pausedAt, pauseHistory }: Pauses, now: bigint): bigint {
  const time = since1970(now);
  const isPaused = status === 'paused' || status === 'suspended';
  const ongoing = isPaused && pausedAt !== null ? since1970(time - since1970(pausedAt)) : 0n;
  const age = since1970(halfDay(time) - BigInt(pauseHistory.latest));
  if (age > WINDOW_UNITS) {
    return ongoing;
  }
  let seconds = ongoing + BigInt(pauseHistory.remainderSeconds);
  for (let bit = 0n; bit <= WINDOW_UNITS - age; bit += 1n) {
    seconds += ((pauseHistory.units >> bit) & 1n) * PAUSE_UNIT_SECONDS;
  }
  return seconds;
}

/**
 * Why the renter may reclaim a Per-Task balance now, or null when the program would refuse with `Unauthorized`.
 *
 * `closed` returns balance and rent and ends the access. The others return the balance and leave the credential.
 * The balance itself is not checked: the program refuses an empty one with `NothingToWithdraw` unless the listing is
 * closed.
 * @param now Unix seconds, by the cluster's clock
 */
export function reclaimReason(listing: Terms, balance: Agreement, now: bigint): ReclaimReason | null {
  if (listing.status === 'closed') {
    return 'closed';
  }
  if (listing.status === 'suspended') {
    return 'suspended';
  }
  if (listing.priceLamports > balance.maxPriceLamports) {
    return 'price_above_limit';
  }
  return pausedSeconds(listing, now) >= RECLAIM_AFTER_PAUSED_SECONDS ? 'paused' : null;
}

/** True when the program lets the renter reclaim now; see {@link reclaimReason}. */
export function canReclaim(listing: Terms, balance: Agreement, now: bigint): boolean {
  return reclaimReason(listing, balance, now) !== null;
}

/**
 * The first time from now on, Unix seconds, at which the renter may reclaim when listing and balance stay unchanged.
 * Null when they never may, because the listing is active at a price that they agreed to.
 *
 * @param now Unix seconds, by the cluster's clock
 */
export function reclaimableAt(listing: Terms, balance: Agreement, now: bigint): bigint | null {
  if (canReclaim(listing, balance, now)) {
    return now;
  }
  if (listing.status !== 'paused' || listing.pausedAt === null) {
    return null;
  }
  // The pause adds one second a second, and old units leave the count at each half day. The pause alone suffices in the end.
  for (let time = since1970(now); ;) {
    const missing = RECLAIM_AFTER_PAUSED_SECONDS - pausedSeconds(listing, time);
    const nextHalfDay = (time / PAUSE_UNIT_SECONDS + 1n) * PAUSE_UNIT_SECONDS;
    if (time + missing < nextHalfDay) {
      return time + missing;
    }
    time = nextHalfDay;
    if (canReclaim(listing, balance, time)) {
      return time;
    }
  }
}
