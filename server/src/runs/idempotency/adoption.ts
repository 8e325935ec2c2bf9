import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryTracking, EqualRuns } from '../delivery/delivery-tracking.js';
import type { Order } from '../pipeline/parse.js';

/**
 * How long a request waits while an equal run still has a caller. It may be the same caller, which retries because its
 * connection broke: until the broken connection is noticed, the retry looks like a second call.
 */
const DEPARTURE_MS = 2_000;
/**
 * How often a request looks at an equal run that began with it: such calls are meant as several, and the first caller is
 * usually there. Where its connection broke, that is noticed within these looks: the broken one came first.
 */
const LOOKS_AT_NEW = 4;
/** Time between two queries; each pause is twice the one before, up to the most. */
const QUERY_INTERVAL_MS = { first: 10, most: 200 };

/** The adoption of an undelivered equal run by one request, which then does not pay again. */
export interface Adoption {
  /**
   * Adopts an equal run whose caller is gone; waits a moment for a caller that may be gone, which is short where that run began
   * less than 0.5 s before. Undefined when there is no such run: this request is a call of its own.
   *
   * @throws the reason of `gone`.
   */
  find(gone: AbortSignal): Promise<string | undefined>;
  /** Whether there was an equal run when this began; `find` may find one. */
  readonly isPossible: Promise<boolean>;
  /** True while the request still waits for callers of equal runs to be gone. */
  readonly isPatient: boolean;
}

/** Starts the query for equal runs of `order`, in parallel with other queries of its request. */
export function beginAdoption(
  deliveryTracking: Pick<DeliveryTracking, 'adopt' | 'findEqualRuns'>,
  order: Order,
  departureMs = DEPARTURE_MS,
): Adoption {
  let begun: Promise<EqualRuns> | undefined = deliveryTracking.findEqualRuns(order);
  // May stay unawaited; avoids an unhandled rejection.
  begun.catch(() => undefined);
  const isPossible = begun.then(({ isLeft, hasCaller }) => isLeft || hasCaller);
  isPossible.catch(() => undefined);
  let deadline: number | undefined;
  let looks = 0;
  const isPatient = (): boolean =>
    deadline === undefined || performance.now() < deadline || looks < LOOKS_AT_NEW;
  return {
    isPossible,
    get isPatient() {
      return isPatient();
    },
    async find(gone) {
      for (let ms = QUERY_INTERVAL_MS.first; ; ms = Math.min(2 * ms, QUERY_INTERVAL_MS.most)) {
        const looking = begun ?? deliveryTracking.findEqualRuns(order);
        begun = undefined;
        const { isLeft, hasCaller, hasOldCaller } = await looking;
        // Adoption takes a lock, so it is tried only where there is such a run.
        const runId = isLeft ? await deliveryTracking.adopt(order) : undefined;
        if (runId !== undefined) return runId;
        gone.throwIfAborted();
        if (!hasCaller) return undefined;
        looks += 1;
        deadline ??= performance.now() + (hasOldCaller ? departureMs : 0);
        if (!isPatient()) return undefined;
        await pause(ms);
      }
    },
  };
}
