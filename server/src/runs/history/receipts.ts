import type { Receipt, RunLogEntry, SignedReceipt } from '@agent-rental/contract';
import { ApiError } from '../../http/api-error.js';
import { receiptPayload, type ReceiptSigner, type Settlement } from '../../settlement/index.js';
import { isRunId } from './past-runs.js';
import type { RunRepository, RunRow } from './repository.js';

/** What a receipt says of a run's row. */
export type LoggedRun = Pick<
  RunRow,
  'id' | 'wallet' | 'listing_id' | 'status' | 'input_digest' | 'output_digest' | 'created_at' | 'finished_at'
>;

/** Where the program is that charges. */
export type ReceiptOrigin = Pick<Receipt, 'network' | 'program_id'>;

/** What was charged for a run. */
type Paid = Awaited<ReturnType<Settlement['paidFor']>>;

/** Says what happened in runs, signed. */
export interface Receipts {
  /** @throws ApiError `not_found` for a run that goes on, and for another wallet's. */
  find(runId: string, wallet: string): Promise<SignedReceipt>;
}

/**
 * The receipt of a run that has ended. What is in the run log is a hash of it: the receipt of a logged run must never change,
 * in no member and in no order of members.
 *
 * @throws RangeError for a run that goes on
 */
export function receiptOf(row: LoggedRun, paid: Paid, { network, program_id }: ReceiptOrigin): Receipt {
  if (row.status === 'running' || row.finished_at === null) {
    throw new RangeError(`There is no receipt of run ${row.id} yet.`);
  }
  return {
    version: 1,
    run_id: row.id,
    wallet: row.wallet,
    listing_id: row.listing_id,
    status: row.status,
    cost_lamports: Number(paid?.lamports ?? 0n),
    charge_signature: paid?.signature ?? null,
    credited: paid?.credited ?? false,
    network,
    program_id,
    input_digest: row.input_digest?.toString('hex') ?? null,
    output_digest: row.output_digest?.toString('hex') ?? null,
    started_at: row.created_at.toISOString(),
    finished_at: row.finished_at.toISOString(),
  };
}

export function createReceipts(deps: {
  runs: RunRepository;
  settlement: Pick<Settlement, 'paidFor'>;
  signer: ReceiptSigner;
  origin: ReceiptOrigin;
  /** Where the run log has a run that no charge stands for; `payload` is what was signed of its receipt. */
  logOf(runId: string, payload: Uint8Array): Promise<RunLogEntry>;
}): Receipts {
  return {
    async find(runId, wallet) {
      const row = isRunId(runId) ? await deps.runs.find(runId, wallet) : undefined;
      if (!row) throw new ApiError('not_found', 'This wallet has no such run.');
      if (row.status === 'running') {
        throw new ApiError('not_found', 'The run goes on; there is a receipt once it has ended.', { runId });
      }
      const paid = await deps.settlement.paidFor(runId);
      const receipt = receiptOf(row, paid, deps.origin);
      const log: RunLogEntry = paid
        ? { status: 'charged', signature: paid.signature }
        : await deps.logOf(runId, receiptPayload(receipt));
      return { receipt, salt: row.salt?.toString('hex') ?? '', jws: deps.signer.sign(receipt), log };
    },
  };
}
