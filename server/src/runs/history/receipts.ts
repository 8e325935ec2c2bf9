import type { Receipt, RunLogEntry, SignedReceipt } from '@agent-rental/contract';
import type { PublicKey } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';
import type { Owner } from '../../access/owner.js';
import { ApiError } from '../../errors/api-error.js';
import { receiptPayload, type ReceiptSigner, type Settlement } from '../../settlement/index.js';
import { isRunId, noSuchRun } from './past-runs.js';
import type { RanVersion, RunRepository, RunRow } from './repository.js';

/** The part of a receipt that a run's row gives. */
export type LoggedRun = Pick<
  RunRow,
  | 'id'
  | 'wallet'
  | 'listing_id'
  | 'status'
  | 'input_digest'
  | 'output_digest'
  | 'created_at'
  | 'finished_at'
  | 'is_trial'
> &
  RanVersion;

/** Where the program is that charges. */
export type ReceiptOrigin = Pick<Receipt, 'network' | 'program_id'>;

/** The charge of a run. */
type Paid = Awaited<ReturnType<Settlement['paidFor']>>;

/** Makes signed receipts of runs. */
export interface Receipts {
  /**
   * @param withEvidence asks the chain for the transaction that the log names, too
   * @throws ApiError `not_found` for a run that goes on, and for another owner's.
   */
  find(runId: string, owner: Owner, withEvidence?: boolean): Promise<SignedReceipt>;
}

/**
 * The receipt of a run that has ended. The run log holds its hash, so the receipt of a logged run must never change, in
 * members or their order. `version` 1 is the form of older releases, and only a trial has `version` 3.
 *
 * @throws RangeError for a run that goes on
 */
export function receiptOf(
  row: LoggedRun,
  paid: Paid,
  { network, program_id }: ReceiptOrigin,
  version: Receipt['version'] = row.is_trial ? 3 : 2,
): Receipt {
  if (row.status === 'running' || row.finished_at === null) {
    throw new RangeError(`There is no receipt of run ${row.id} yet.`);
  }
  return {
    version,
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
    ...(version === 1 ? {} : { agent_version: row.number, version_change: row.change_kind }),
    ...(version === 3 ? { trial: true } : {}),
  };
}

export function createReceipts(deps: {
  runs: Pick<RunRepository, 'find' | 'versionOf'>;
  settlement: Pick<Settlement, 'paidFor'>;
  signer: ReceiptSigner;
  origin: ReceiptOrigin;
  /** The place in the run log of a run without a charge, and which payload of its receipt was logged. */
  logOf(runId: string, payloads: readonly Uint8Array[]): Promise<{ log: RunLogEntry; logged: number }>;
  chain: Pick<Chain, 'transactionOf'>;
  /** The keys that are the protocol's authority now. */
  authorities(): Promise<readonly PublicKey[]>;
}): Receipts {
  return {
    async find(runId, owner, withEvidence = false) {
      const row = isRunId(runId) ? await deps.runs.find(runId, owner) : undefined;
      if (!row) throw noSuchRun(owner);
      if (row.status === 'running') {
        throw new ApiError('not_found', 'The run goes on; there is a receipt once it has ended.', { runId });
      }
      const paid = await deps.settlement.paidFor(runId);
      const ran = { ...row, ...(await deps.runs.versionOf(row.version_id)) };
      const present = receiptOf(ran, paid, deps.origin);
      // As a replica of an older release may have logged it.
      const older = ([2, 1] as const)
        .filter((version) => version < present.version)
        .map((version) => receiptOf(ran, paid, deps.origin, version));
      const { log, logged } = paid
        ? { log: { status: 'charged' as const, signature: paid.signature }, logged: 0 }
        : await deps.logOf(runId, [present, ...older].map(receiptPayload));
      const receipt = logged === 0 ? present : (older[logged - 1] ?? present);
      const signed = { receipt, salt: row.salt?.toString('hex') ?? '', jws: deps.signer.sign(receipt), log };
      if (!withEvidence || log.status === 'pending') return signed;
      return { ...signed, evidence: await evidenceOf(log.signature, deps) };
    },
  };
}

/** The transaction of a run, and the keys of which one has signed it. */
async function evidenceOf(
  signature: string,
  {
    chain,
    authorities,
  }: { chain: Pick<Chain, 'transactionOf'>; authorities(): Promise<readonly PublicKey[]> },
): Promise<NonNullable<SignedReceipt['evidence']>> {
  const [landed, keys] = await Promise.all([chain.transactionOf(signature), authorities()]);
  return {
    transaction: landed && Buffer.from(landed.serialize()).toString('base64'),
    authorities: keys.map((key) => key.toBase58()),
  };
}
