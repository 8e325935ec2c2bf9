import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryTracking, EqualRuns } from '../delivery/delivery-tracking.js';
import type { Order } from '../pipeline/parse.js';

/**
 * How long a request waits while a caller still seems to wait for an equal run. It may be the same caller, who asks
 * again at once because its connection broke: until that departure is noted, it looks like a second call.
 */
const DEPARTURE_MS = 2_000;
/** Time between the first two looks; each pause is twice the one before, up to the most. */
const LOOK_MS = { first: 10, most: 200 };

/** What becomes of one request that would rather take an undelivered run over than pay again. */
export interface Adoption {
  /**
   * The equal run to take over: at once, or when the departure of its caller is noted within a moment. Undefined:
   * there is none, or its caller is still there, and this is a call of its own.
   *
   * @throws the reason of `gone`.
   */
  find(gone: AbortSignal): Promise<string | undefined>;
  /** Whether equal runs are still given time for their callers to be gone. */
  readonly isPatient: boolean;
}

/** Begins to look for `order`, while its request does other look-ups. */
export function beginAdoption(
  deliveryTracking: Pick<DeliveryTracking, 'adopt' | 'findEqualRuns'>,
  order: Order,
  departureMs = DEPARTURE_MS,
): Adoption {
  let begun: Promise<EqualRuns> | undefined = deliveryTracking.findEqualRuns(order);
  // May stay unawaited; avoids an unhandled rejection.
  begun.catch(() => undefined);
  let deadline: number | undefined;
  const isPatient = (): boolean => deadline === undefined || performance.now() < deadline;
  return {
    get isPatient() {
      return isPatient();
    },
    async find(gone) {
      for (let ms = LOOK_MS.first; ; ms = Math.min(2 * ms, LOOK_MS.most)) {
        const looking = begun ?? deliveryTracking.findEqualRuns(order);
        begun = undefined;
        const { isLeft, hasCaller } = await looking;
        // Mostly there is none: then no request waits for its turn to take one over.
        const runId = isLeft ? await deliveryTracking.adopt(order) : undefined;
        if (runId !== undefined) return runId;
        gone.throwIfAborted();
        if (!hasCaller || !isPatient()) return undefined;
        deadline ??= performance.now() + departureMs;
        await pause(ms);
      }
    },
  };
}
