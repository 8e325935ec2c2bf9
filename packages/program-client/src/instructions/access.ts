import { Buffer } from 'buffer';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { decodeInstruction } from '../decoding/decode-instruction.js';
import { buildInstruction, rentalAccounts, type ProgramOption } from './build.js';

interface AccessInput extends ProgramOption {
  /** The buyer whose access it is. */
  buyer: PublicKey;
  listingId: string;
}

/** Values of {@link consumeQuery}. */
export interface ConsumeQueryInput extends AccessInput {
  /** The protocol's authority (or next authority); signs. */
  authority: PublicKey;
  /** The protocol's treasury, as its account names it. */
  treasury: PublicKey;
  /** Unique per balance: the program charges each sequence at most once. */
  sequence: bigint;
  /** 16 bytes that name the run. They tell a landed charge apart from another one with the same sequence. */
  runId: Uint8Array;
  /**
   * The price at which the run was admitted, in lamports; it is the charged amount. It is the listing's present price, or
   * its previous one within 15 minutes of the change.
   */
  priceLamports: bigint;
}

/** Values of {@link revokeAccess}. */
export interface RevokeAccessInput extends AccessInput {
  /** The protocol's admin; signs. */
  admin: PublicKey;
}

/** Values of {@link revokePerQueryAccess}. */
export interface RevokePerQueryAccessInput extends AccessInput {
  /** The protocol's admin, the listing's creator, or the buyer where a reclaim is allowed; signs. */
  revoker: PublicKey;
}

/** Values of {@link verifyAccess}. */
export type VerifyAccessInput = AccessInput;

/**
 * Charges one run: price minus fee to the escrow, fee to the treasury. Signer: the protocol's authority.
 *
 * Errors: `CredentialNotFound`, `CredentialRevoked`, `InvalidAccessType`, `Unauthorized`, `ListingNotActive` once
 * closed (a paused or suspended listing is charged), `RunAlreadyConsumed`, `SequenceTooFar`, `PriceChanged`, `PriceAboveLimit`,
 * `InsufficientBalance`.
 */
export function consumeQuery(input: ConsumeQueryInput): TransactionInstruction {
  return buildInstruction(
    'consume_query',
    { ...rentalAccounts(input), authority: input.authority, treasury: input.treasury },
    { sequence: input.sequence, runId: input.runId, priceLamports: input.priceLamports },
    input.programId,
  );
}

/** The length of an instruction's discriminator, in bytes. */
const DISCRIMINATOR_BYTES = 8;

/**
 * Makes one instruction from several `consume_query` of one listing. It makes the same charges as they would, in their
 * order: all of them, or none. Each logs its own `QueryConsumed`. A balance may be charged several times. Signer: the
 * protocol's authority.
 *
 * Errors: the errors of {@link consumeQuery}; `splitChargeError` tells which charge one is about.
 *
 * @param charges results of {@link consumeQuery}, at least one, all with the same authority, listing and treasury
 */
export function consumeQueries(charges: readonly TransactionInstruction[]): TransactionInstruction {
  const decoded = charges.map(({ data, keys }) => {
    const charge = decodeInstruction(data, keys);
    if (charge?.name !== 'consume_query') throw new TypeError('Each charge must be a consume_query.');
    return charge.accounts;
  });
  const [first] = decoded;
  if (!first) throw new TypeError('There must be at least one charge.');
  const shared = ['authority', 'protocol', 'listing', 'escrow', 'treasury'] as const;
  for (const accounts of decoded) {
    const other = shared.find((name) => accounts[name]?.equals(first[name] as PublicKey) !== true);
    if (other) throw new TypeError(`All charges must have the same ${other}.`);
  }
  const { programId } = charges[0] as TransactionInstruction;
  const instruction = buildInstruction('consume_queries', first, { charges: [] }, programId);
  const count = Buffer.alloc(4);
  count.writeUInt32LE(charges.length);
  instruction.data = Buffer.concat([
    instruction.data.subarray(0, DISCRIMINATOR_BYTES),
    count,
    // The encoded arguments of one charge.
    ...charges.map(({ data }) => data.subarray(DISCRIMINATOR_BYTES)),
  ]);
  for (const { accessCredential, perQueryBalance } of decoded) {
    instruction.keys.push(
      { pubkey: accessCredential as PublicKey, isSigner: false, isWritable: false },
      { pubkey: perQueryBalance as PublicKey, isSigner: false, isWritable: true },
    );
  }
  return instruction;
}

/**
 * Revokes a One-Time or Subscription credential for ever. Signer: the protocol's admin.
 *
 * Errors: `CredentialNotFound`, `CredentialRevoked`, `Unauthorized`, `InvalidAccessType` for Per-Task.
 */
export function revokeAccess(input: RevokeAccessInput): TransactionInstruction {
  return buildInstruction(
    'revoke_access',
    { ...rentalAccounts(input), admin: input.admin },
    {},
    input.programId,
  );
}

/**
 * Ends Per-Task access.
 * - The admin or the creator revokes it: balance and rent return to the buyer.
 * - The buyer, on a closed listing: balance and rent return.
 * - The buyer otherwise: the balance returns. The listing is suspended, the price is above the agreed maximum, or pauses
 *   within 30 days add up to 7 days. See `reclaimReason` and `reclaimableAt`.
 *
 * Errors: `CredentialNotFound`, `CredentialRevoked`, `InvalidAccessType`, `Unauthorized`, `NothingToWithdraw` for
 * a buyer whose balance is empty.
 */
export function revokePerQueryAccess(input: RevokePerQueryAccessInput): TransactionInstruction {
  return buildInstruction(
    'revoke_per_query_access',
    { ...rentalAccounts(input), revoker: input.revoker },
    {},
    input.programId,
  );
}

/**
 * Asks whether a wallet may use a listing now; the answer is one byte of return data, to be read by simulation.
 * No signer, no fee. True also while the listing is paused; false while it is suspended. False, never an error, for accounts
 * that do not exist.
 */
export function verifyAccess(input: VerifyAccessInput): TransactionInstruction {
  return buildInstruction(
    'verify_access',
    rentalAccounts(input),
    { buyer: input.buyer, listingId: input.listingId },
    input.programId,
  );
}
