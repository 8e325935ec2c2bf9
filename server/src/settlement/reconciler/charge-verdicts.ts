import { decodeProgramError } from '@agent-rental/program-client';
import type { SignatureStatus } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';
import type { OpenCharge, SignedCharge } from '../charge.js';
import { isRefusalOf } from '../charge-transactions/charged-runs.js';

/** Signatures that one call of the RPC tells the status of. */
const MOST_SIGNATURES = 256;

/** The state of a charge, judged by its transactions. */
type ChargeVerdict =
  | { is: 'paid'; isFinal: boolean }
  /** A transaction may still land; unseen ones are sent again. */
  | { is: 'open'; unseen: SignedCharge[] }
  /** None can land any more, and the program refused the charge in one. */
  | { is: 'failed'; failureCode: number | undefined }
  /** None can land any more. None left a trace, or the traced ones failed because of another charge in them. */
  | { is: 'dead' };

interface JudgedCharge extends OpenCharge {
  verdict: ChargeVerdict;
}
/** A charge that has taken the money. */
export interface PaidCharge extends OpenCharge {
  verdict: Extract<ChargeVerdict, { is: 'paid' }>;
}
/** A charge that has not. */
export interface UnpaidCharge extends OpenCharge {
  verdict: Exclude<ChargeVerdict, { is: 'paid' }>;
}

/** Whether a charge has taken the money. */
export const isPaid = (judged: JudgedCharge): judged is PaidCharge => judged.verdict.is === 'paid';
/** Whether it has not. */
export const isUnpaid = (judged: JudgedCharge): judged is UnpaidCharge => judged.verdict.is !== 'paid';

/** Tells the outcome of each charge. @throws ApiError `service_unavailable` when the chain cannot be reached. */
export async function judgeCharges(
  chain: Pick<Chain, 'blockHeight' | 'statuses'>,
  open: readonly OpenCharge[],
): Promise<JudgedCharge[]> {
  const heights = {
    confirmed: await chain.blockHeight('current'),
    finalized: await chain.blockHeight('finalized'),
  };
  const all = [...new Set(open.flatMap(({ signatures }) => signatures.map(({ signature }) => signature)))];
  const statuses = new Map<string, SignatureStatus | null>();
  const starts = Array.from(
    { length: Math.ceil(all.length / MOST_SIGNATURES) },
    (_, index) => index * MOST_SIGNATURES,
  );
  await Promise.all(
    starts.map(async (start) => {
      const batch = all.slice(start, start + MOST_SIGNATURES);
      const found = await chain.statuses(batch, true);
      for (const [index, signature] of batch.entries()) statuses.set(signature, found[index] ?? null);
    }),
  );
  return open.map(({ charge, signatures }) => {
    const seen = signatures.map((signed) => ({
      ...signed,
      status: statuses.get(signed.signature) ?? null,
    }));
    return { charge, signatures, verdict: verdictOf(charge.run_id, seen, heights) };
  });
}

/** Judges a charge by its transactions. */
function verdictOf(
  runId: string,
  transactions: (SignedCharge & { status: SignatureStatus | null })[],
  heights: { confirmed: bigint; finalized: bigint },
): ChargeVerdict {
  const landed = transactions
    .map(({ status }) => status)
    .find((status) => status && !status.err && status.confirmationStatus !== 'processed');
  if (landed) return { is: 'paid', isFinal: landed.confirmationStatus === 'finalized' };
  const isOver = ({ status, lastValidBlockHeight }: (typeof transactions)[number]) =>
    status === null ? lastValidBlockHeight < heights.finalized : status.confirmationStatus === 'finalized';
  if (!transactions.every(isOver)) {
    const unseen = transactions.filter(
      ({ status, lastValidBlockHeight }) => status === null && lastValidBlockHeight >= heights.confirmed,
    );
    return { is: 'open', unseen };
  }
  const refusal = transactions.find(
    ({ status, signedBytes }) => status?.err && isRefusalOf(runId, signedBytes, status.err),
  );
  if (!refusal) return { is: 'dead' };
  return { is: 'failed', failureCode: decodeProgramError({ error: refusal.status?.err })?.code };
}
