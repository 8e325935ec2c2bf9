import type { SignatureStatus } from '@solana/web3.js';

const LEVELS = ['processed', 'confirmed', 'finalized'] as const;
type Told = SignatureStatus | null;

/** The common status of a transaction by several endpoints, and whether they contradict each other. */
export interface AgreedStatus {
  /**
   * Null: every endpoint says that it does not know the transaction. `processed`: it was seen, or the endpoints do not
   * agree about it; its end is open.
   */
  status: Told;
  /** Some told an end of it on which they do not agree. */
  isOpenClaim: boolean;
}

/**
 * Judges one transaction by the words of several endpoints.
 *
 * With a quorum of 2, the furthest level counts that two endpoints agree on, of success and of failure alike. A single
 * endpoint (quorum 1) counts for a success up to `confirmed`. It never counts for `finalized` or for a failure, so a
 * charge is judged again when a second endpoint is back.
 */
export function agreedStatus(told: readonly Told[], quorum: 1 | 2): AgreedStatus {
  const seen = told.filter((status) => status !== null);
  const [first] = seen;
  if (first === undefined) return { status: null, isOpenClaim: false };
  const successes = byLevel(seen.filter(({ err }) => err === null));
  const failures = byLevel(seen.filter(({ err }) => err !== null));
  const open = {
    status: { slot: first.slot, confirmations: 0, err: null, confirmationStatus: 'processed' as const },
    isOpenClaim: seen.some((status) => status.err !== null || levelOf(status) > 0),
  };
  if (quorum === 1) {
    const [success] = successes;
    if (failures.length > 0 || success === undefined || levelOf(success) === 0) return open;
    return { status: { ...success, confirmationStatus: 'confirmed' }, isOpenClaim: false };
  }
  // The second of each kind is the level that two agree on.
  const [, success] = successes;
  const [, failure] = failures;
  if (success !== undefined && failure !== undefined) return open;
  if (success !== undefined && levelOf(success) > 0) return { status: success, isOpenClaim: false };
  if (failure !== undefined) return { status: failure, isOpenClaim: false };
  return open;
}

/** The furthest first. */
const byLevel = (statuses: SignatureStatus[]) => statuses.toSorted((a, b) => levelOf(b) - levelOf(a));

/** A status of a node that tells no level counts as `processed`. */
function levelOf({ confirmationStatus }: SignatureStatus): number {
  return LEVELS.indexOf(confirmationStatus ?? 'processed');
}
