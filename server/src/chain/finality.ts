import type { Commitment, SignatureStatus } from '@solana/web3.js';
import type { RpcEndpoint } from './endpoints/endpoint.js';

/** A cluster that has not moved to Alpenglow is asked again after this time. */
const ASKED_AGAIN_AFTER_MS = 30_000;

/**
 * The commitment at which the service reads, waits and decides. The one place that knows the two kinds of cluster.
 *
 * - Fast finality (Alpenglow, SIMD-0326): `finalized`, some 150 ms after the block. Nothing is provisional.
 * - Otherwise: `confirmed`, which a fork may take back. `finalized` follows some 13 s later.
 */
export interface ClusterFinality {
  /** The commitment of reads that decide. Asks the cluster at the first call, and again until it has moved. */
  level(): Promise<Extract<Commitment, 'confirmed' | 'finalized'>>;
  /** A status as the service takes it: with fast finality a transaction is `processed` until it is `finalized`. */
  judge(status: SignatureStatus | null): SignatureStatus | null;
}

/**
 * Makes it. One endpoint is believed: a false answer can only make the service wait longer. On a cluster that has moved,
 * `confirmed` names the same block as `finalized`.
 *
 * @param ask makes a call at an endpoint
 * @param now in milliseconds
 */
export function createFinality(
  ask: (call: (endpoint: Pick<RpcEndpoint, 'rpc'>) => Promise<boolean>) => Promise<boolean>,
  now: () => number = () => performance.now(),
): ClusterFinality {
  let isFast = false;
  let askedAt: number | undefined;
  let asking: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    try {
      isFast = await ask(({ rpc }) => rpc.hasFastFinality());
      askedAt = now();
    } catch {
      // Unknown, as before. The caller's own call meets the same trouble; the next one asks again.
    } finally {
      asking = undefined;
    }
  }

  return {
    async level() {
      if (!isFast && (askedAt === undefined || now() - askedAt > ASKED_AGAIN_AFTER_MS)) {
        asking ??= refresh();
        // Later answers are not waited for: until then the cluster counts as before.
        if (askedAt === undefined) await asking;
      }
      return isFast ? 'finalized' : 'confirmed';
    },
    judge: (status) =>
      isFast && status?.confirmationStatus === 'confirmed'
        ? { ...status, confirmationStatus: 'processed' }
        : status,
  };
}
