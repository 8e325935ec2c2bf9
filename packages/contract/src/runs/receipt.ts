import * as z from 'zod';
import { base58Signature, lamports, listingId, timestamp, walletAddress } from '../primitives.js';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** What happened in a run, as the service states it. */
export const receipt = z
  .object({
    /** 1 of a run that was logged by an older release: such a receipt never changes. 3 of a free trial, 2 of all others. */
    version: z.literal([1, 2, 3]),
    run_id: z.string(),
    wallet: walletAddress,
    listing_id: listingId,
    /** `undelivered`: the service could not serve the run. */
    status: z.enum(['completed', 'failed', 'undelivered']),
    /** What was taken from the Per-Task balance. */
    cost_lamports: lamports,
    /** The transaction that took it; null when nothing was taken. */
    charge_signature: base58Signature.nullable(),
    /** The charge of an undelivered run was made good by a free run. */
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
    /** What that version meant for renters of the one before it; null for a first one, and where it is not on record. */
    version_change: z.enum(['compatible', 'breaking']).nullable().optional(),
    /** The run needed no rental and was free. */
    trial: z.literal(true).optional(),
  })
  .meta({ id: 'Receipt' });
export type Receipt = z.infer<typeof receipt>;

/** Of a run with a charge: the transaction that charged it is its entry in the log. */
const chargedRunLog = z
  .object({ status: z.literal('charged'), signature: base58Signature })
  .meta({ id: 'RunLogCharge' });

/** Of a run whose batch is not final on-chain yet. */
const pendingRunLog = z
  .object({
    status: z.literal('pending'),
    /** When the batch is expected to be final. A chain that cannot be reached delays it; nothing is left out. */
    expected_at: timestamp,
  })
  .meta({ id: 'RunLogPending' });

/** Of a run in a batch, whose root stands on-chain in a memo that the protocol's authority signed. */
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
 * Where a run stands on-chain. It is not part of what the receipt's signature covers: the leaf of a run is SHA-256 over a
 * zero byte and the payload of its JWS.
 */
export const runLogEntry = z
  .discriminatedUnion('status', [chargedRunLog, pendingRunLog, batchedRunLog])
  .meta({ id: 'RunLogEntry' });
export type RunLogEntry = z.infer<typeof runLogEntry>;

/** What a caller of `GET /v1/runs/:run_id/receipt` may ask for beside the receipt. */
export const receiptQuery = z.strictObject({
  /** `transaction`: also what verifies it on-chain, for callers that reach no RPC, as pages of a browser. */
  include: z.literal('transaction').optional(),
});

/** What the service knows of a run's transaction. Its signatures can be checked; that it landed is what the service says. */
const receiptEvidence = z
  .object({
    /** The transaction of the log in base64, as it was signed; null until it is final. */
    transaction: z.base64().nullable(),
    /** Keys that are the protocol's authority now, base58. */
    authorities: z.array(walletAddress),
  })
  .meta({ id: 'ReceiptEvidence' });

/**
 * A receipt, signed: `jws` is a compact JWS (EdDSA) whose payload is the receipt; the keys are at
 * `/.well-known/jwks.json`. A reader of the JWS without the salt can check what happened, and learns nothing
 * about input and output. `log` says where the run stands on-chain.
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
