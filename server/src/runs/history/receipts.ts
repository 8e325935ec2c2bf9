import type { Receipt, SignedReceipt } from '@agent-rental/contract';
import { ApiError } from '../../http/api-error.js';
import type { ReceiptSigner, Settlement } from '../../settlement/index.js';
import { isRunId } from './past-runs.js';
import type { RunRepository } from './repository.js';

/** Says what happened in runs, signed. */
export interface Receipts {
  /** @throws ApiError `not_found` for a run that goes on, and for another wallet's. */
  find(runId: string, wallet: string): Promise<SignedReceipt>;
}

export function createReceipts(deps: {
  runs: RunRepository;
  settlement: Pick<Settlement, 'paidFor'>;
  signer: ReceiptSigner;
  network: Receipt['network'];
  programId: string;
}): Receipts {
  return {
    async find(runId, wallet) {
      const row = isRunId(runId) ? await deps.runs.find(runId, wallet) : undefined;
      if (!row) throw new ApiError('not_found', 'This wallet has no such run.');
      if (row.status === 'running' || row.finished_at === null) {
        throw new ApiError('not_found', 'The run goes on; there is a receipt once it has ended.', { runId });
      }
      const paid = await deps.settlement.paidFor(runId);
      const receipt: Receipt = {
        version: 1,
        run_id: row.id,
        wallet: row.wallet,
        listing_id: row.listing_id,
        status: row.status,
        cost_lamports: Number(paid?.lamports ?? 0n),
        charge_signature: paid?.signature ?? null,
        credited: paid?.credited ?? false,
        network: deps.network,
        program_id: deps.programId,
        input_digest: row.input_digest?.toString('hex') ?? null,
        output_digest: row.output_digest?.toString('hex') ?? null,
        started_at: row.created_at.toISOString(),
        finished_at: row.finished_at.toISOString(),
      };
      return { receipt, salt: row.salt?.toString('hex') ?? '', jws: deps.signer.sign(receipt) };
    },
  };
}
