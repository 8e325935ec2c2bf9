import { WEBHOOK_TRIED_DAYS, type WebhookAttempt, type WebhookDelivery } from '@agent-rental/contract';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Seconds after each failed attempt of a delivery, and then the last of them again. */
const WAITS_S = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];
/** The longest time for which an address rests. */
const LONGEST_REST_S = HOUR;
/** Waits are up to so much longer, so that what failed together is not tried together. */
const JITTER = 0.2;
/** The receiver says that it wants no such delivery any more. */
const GONE = 410;

const waitS = (failures: number): number =>
  (WAITS_S[Math.min(failures, WAITS_S.length) - 1] ?? 0) * (1 + Math.random() * JITTER);

/** How long an address rests after so many failed batches, in seconds. */
export const restS = (failures: number): number => Math.min(waitS(failures), LONGEST_REST_S);

/**
 * What becomes of a delivery after its last attempt, and when it is tried again, in seconds. A 410 ends it at once; each
 * other failure is tried again until three days after the event.
 */
export function afterAttempt(
  attempts: readonly WebhookAttempt[],
  eventAt: Date,
): { status: WebhookDelivery['status']; waitS: number } {
  const last = attempts.at(-1);
  if (last && last.reason === undefined) return { status: 'delivered', waitS: 0 };
  const wait = waitS(attempts.length);
  const endsAt = eventAt.getTime() + WEBHOOK_TRIED_DAYS * 24 * HOUR * 1_000;
  const isLast = last?.http_status === GONE || Date.now() + wait * 1_000 > endsAt;
  return isLast ? { status: 'failed', waitS: 0 } : { status: 'pending', waitS: wait };
}
