import * as z from 'zod';
import { base58Signature, lamports, listingId, timestamp, walletAddress } from '../primitives.js';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The service's statement of a run. */
export const receipt = z
  .object({
    /** 1: an older release logged the run; its receipt never changes. 3: a free trial. 2: all other runs. */
    version: z.literal([1, 2, 3]),
    run_id: z.string(),
    wallet: walletAddress,
    listing_id: listingId,
    /** `undelivered`: the service could not serve the run. */
    status: z.enum(['completed', 'failed', 'undelivered']),
    /** The charge to the Per-Task balance. */
    cost_lamports: lamports,
    /** The transaction of the charge; null without a charge. */
    charge_signature: base58Signature.nullable(),
    /** The renter got a free run for the charge of an undelivered run. */
    credited: z.boolean(),
    network: z.enum(['localnet', 'devnet', 'mainnet']),
    program_id: z.string(),
    /** SHA-256 over the salt's 16 bytes and the canonical JSON (RFC 8785) of `{input, task}`. */
    input_digest: sha256.nullable(),
    /** The same over the salt and the output; null when there was none. */
    output_digest: sha256.nullable(),
    started_at: timestamp,
    finished_at: timestamp,
    /** The version of the agent that ran. */
    agent_version: z.int().min(1).optional(),
    /** The effect of that version on renters of the version before. Null for a first version, and where it is not on record. */
    version_change: z.enum(['compatible', 'breaking']).nullable().optional(),
    /** The run needed no rental and was free. */
    trial: z.literal(true).optional(),
  })
  .meta({ id: 'Receipt' });
export type Receipt = z.infer<typeof receipt>;

/** For a run with a charge: the charging transaction is its entry in the log. */
const chargedRunLog = z
  .object({ status: z.literal('charged'), signature: base58Signature })
  .meta({ id: 'RunLogCharge' });

/** For a run whose batch is not final on-chain yet. */
const pendingRunLog = z
  .object({
    status: z.literal('pending'),
    /** Expected time of the final batch. An unreachable chain delays the batch, and no run is lost. */
    expected_at: timestamp,
  })
  .meta({ id: 'RunLogPending' });

/** For a run in a final batch. A memo that the protocol's authority signed holds the batch's root on-chain. */
const batchedRunLog = z
  .object({
    status: z.literal('logged'),
    /** Number of the batch, from 1. */
    batch: z.int().min(1),
    /** Runs in the batch. */
    count: z.int().min(1),
    /** Place of the run in it, from 0. */
    leaf_index: z.int().min(0),
    /** SHA-256 hashes from the leaf's neighbour up to the root (RFC 6962, section 2.1.1). */
    proof: z.array(sha256),
    root: sha256,
    /** Root of the batch before; zeros for the first batch. */
    previous_root: sha256,
    /** The transaction of the memo. */
    signature: base58Signature,
  })
  .meta({ id: 'RunLogBatch' });

/**
 * The on-chain record of a run. The receipt's signature does not cover it. The leaf of a run is SHA-256 over a zero byte and
 * the payload of its JWS.
 */
export const runLogEntry = z
  .discriminatedUnion('status', [chargedRunLog, pendingRunLog, batchedRunLog])
  .meta({ id: 'RunLogEntry' });
export type RunLogEntry = z.infer<typeof runLogEntry>;

/** Query of `GET /v1/runs/:run_id/receipt`. */
export const receiptQuery = z.strictObject({
  /** `transaction`: also the on-chain evidence, for callers without an RPC, such as pages of a browser. */
  include: z.literal('transaction').optional(),
});

/** Evidence of a run's transaction. A caller can check its signatures. Only the service states that the chain has it. */
const receiptEvidence = z
  .object({
    /** The signed transaction of the log, in base64; null until it is final. */
    transaction: z.base64().nullable(),
    /** Present keys of the protocol's authority, base58. */
    authorities: z.array(walletAddress),
  })
  .meta({ id: 'ReceiptEvidence' });

/**
 * A signed receipt. `jws` is a compact JWS (EdDSA) with the receipt as its payload; the keys are at
 * `/.well-known/jwks.json`. A reader of the JWS without the salt can check the receipt, and learns nothing about input and
 * output. `log` is the on-chain record of the run.
 */
export const signedReceipt = z
  .object({
    receipt,
    salt: z.string().regex(/^([0-9a-f]{32})?$/),
    jws: z.string(),
    log: runLogEntry,
    /** With `include=transaction`; absent while the log is pending. */
    evidence: receiptEvidence.optional(),
  })
  .meta({ id: 'SignedReceipt' });
export type SignedReceipt = z.infer<typeof signedReceipt>;
