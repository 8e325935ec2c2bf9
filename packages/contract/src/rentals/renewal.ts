import type { Refusal } from '../errors/refusals.js';

const DAY_SECONDS = 86_400;

/** The effect of a renewal. Its window counts from now, by the chain's clock. */
export interface Renewal {
  /** The new end, ISO 8601. */
  new_expires_at: string;
  /** The new end minus the later of the present end and now. Not above 0 where the present end is no earlier. */
  added_seconds: number;
}

/**
 * Computes the effect of a renewal.
 *
 * @param times Unix seconds by the chain's clock, and the present end; null without one
 */
export function renewalOf({
  nowSeconds,
  expiresAtSeconds,
  durationSeconds,
}: {
  nowSeconds: number;
  expiresAtSeconds: number | null;
  durationSeconds: number;
}): Renewal {
  const newEnd = nowSeconds + durationSeconds;
  return {
    new_expires_at: new Date(newEnd * 1000).toISOString(),
    added_seconds: newEnd - Math.max(nowSeconds, expiresAtSeconds ?? nowSeconds),
  };
}

/** Whether a renewal adds less than half of its paid window. It then needs an explicit yes: `early`. */
export function addsTooLittle(addedSeconds: number, durationSeconds: number): boolean {
  return 2 * addedSeconds < durationSeconds;
}

/** The added part of a paid window for people, for instance "29 of 30 days". */
export function formatAdded(addedSeconds: number, durationSeconds: number): string {
  const days = Math.floor(addedSeconds / DAY_SECONDS);
  return `${days === 0 ? 'less than 1' : days} of ${durationSeconds / DAY_SECONDS} days`;
}

/**
 * The refusal of a renewal that adds nothing, or too little without an explicit yes.
 *
 * @param early the explicit yes
 * @returns undefined for a renewal that may be paid
 */
export function renewalRefusal(
  { new_expires_at, added_seconds }: Renewal,
  durationSeconds: number,
  early = false,
): Refusal | undefined {
  const end = Date.parse(new_expires_at) / 1000 - added_seconds;
  const counts = `a window counts from now, and the rental ends on ${dayOf(end)}`;
  if (added_seconds <= 0) {
    return { reason: `This renewal would add nothing: ${counts}.`, next: 'Choose a longer window, or wait.' };
  }
  if (early || !addsTooLittle(added_seconds, durationSeconds)) return undefined;
  // The first whole day on which it adds enough.
  const from = dayOf(end - durationSeconds / 2 + DAY_SECONDS - 1);
  return {
    reason: `This renewal would add ${formatAdded(added_seconds, durationSeconds)}: ${counts}.`,
    next: `Renew from ${from} on, or send \`early: true\` to pay anyway.`,
  };
}

function dayOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 10);
}
