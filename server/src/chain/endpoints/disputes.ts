/** Endpoints that differ for this long do not merely lag. */
const DISPUTED_AFTER_MS = 10_000;
const MOST_FOLLOWED = 10_000;

/** Counts transactions on whose end endpoints do not agree. */
export interface Disputes {
  /** Notes a status of a transaction; true when the transaction has just become disputed. */
  note(signature: string, isOpenClaim: boolean): boolean;
  readonly total: number;
}

/** Makes the counter. */
export function createDisputes(now: () => number): Disputes {
  const openSince = new Map<string, number>();
  const disputed = new Set<string>();
  let total = 0;
  return {
    get total() {
      return total;
    },
    note(signature, isOpenClaim) {
      if (!isOpenClaim) {
        openSince.delete(signature);
        disputed.delete(signature);
        return false;
      }
      const since = openSince.get(signature);
      if (since === undefined) {
        openSince.set(signature, now());
        const [oldest] = openSince.keys();
        if (openSince.size > MOST_FOLLOWED && oldest !== undefined) {
          openSince.delete(oldest);
          disputed.delete(oldest);
        }
        return false;
      }
      if (disputed.has(signature) || now() - since < DISPUTED_AFTER_MS) return false;
      disputed.add(signature);
      total += 1;
      return true;
    },
  };
}
