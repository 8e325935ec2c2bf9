import * as z from 'zod';
import { base58Signature, lamports, listingId, timestamp, walletAddress } from '../primitives.js';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** What happened in a run, as the service states it. */
export const receipt = z
  .object({
    version: z.literal(1),
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
  })
  .meta({ id: 'Receipt' });
export type Receipt = z.infer<typeof receipt>;

/**
 * A receipt, signed: `jws` is a compact JWS (EdDSA) whose payload is the receipt; the keys are at
 * `/.well-known/jwks.json`. A reader of the JWS without the salt can check what happened, and learns nothing
 * about input and output.
 */
export const signedReceipt = z
  .object({ receipt, salt: z.string().regex(/^([0-9a-f]{32})?$/), jws: z.string() })
  .meta({ id: 'SignedReceipt' });
export type SignedReceipt = z.infer<typeof signedReceipt>;
