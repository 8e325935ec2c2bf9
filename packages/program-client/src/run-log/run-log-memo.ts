import { Buffer } from 'buffer';
import { ComputeBudgetProgram, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { findRunLogAddress } from '../accounts/addresses.js';
import { MARKETPLACE_PROGRAM_ID } from '../program-id.js';

/** The SPL Memo program, version 2: it fails where an account that the instruction names has not signed. */
export const MEMO_PROGRAM_ID: PublicKey = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** Bytes of a root, in hexadecimal digits. */
const ROOT_DIGITS = 64;
/** The previous root of the first batch. */
export const NO_PREVIOUS_ROOT = '0'.repeat(ROOT_DIGITS);
/** Most runs of one batch: it bounds the work and the storage of one batch. */
export const MAX_RUN_LOG_BATCH = 65_536;
/** Compute units of a batch's transaction: many times the need of the longest memo, for other builds of the memo program. */
export const RUN_LOG_COMPUTE_UNITS = 100_000;
/** Numbers above are not exact in JSON. */
const MAX_BATCH_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

/** One batch of the run log, as its memo says it on-chain. */
export interface RunLogBatch {
  /** Counts from 1, without gaps. */
  batch: bigint;
  /** Runs in it, 1 to {@link MAX_RUN_LOG_BATCH}. */
  count: number;
  /** The root of the previous batch in 64 hexadecimal digits; {@link NO_PREVIOUS_ROOT} for the first one. */
  previousRoot: string;
  /** The root of the Merkle tree over the batch's runs, in 64 hexadecimal digits. */
  root: string;
}

const MEMO =
  /^agent-rental run log v1 batch=([1-9]\d{0,15}) count=([1-9]\d{0,4}) previous=([0-9a-f]{64}) root=([0-9a-f]{64})$/;

/** The text of a batch's memo, version 1. */
export function formatRunLogMemo({ batch, count, previousRoot, root }: RunLogBatch): string {
  return `agent-rental run log v1 batch=${batch} count=${count} previous=${previousRoot} root=${root}`;
}

/** Reads the text of a batch's memo; null for every text that {@link formatRunLogMemo} does not make. */
export function parseRunLogMemo(text: string): RunLogBatch | null {
  const [, batch, count, previousRoot, root] = MEMO.exec(text) ?? [];
  if (batch === undefined || count === undefined || previousRoot === undefined || root === undefined) {
    return null;
  }
  const parsed = { batch: BigInt(batch), count: Number(count), previousRoot, root };
  return parsed.batch > MAX_BATCH_NUMBER || parsed.count > MAX_RUN_LOG_BATCH ? null : parsed;
}

/**
 * The instructions that put a batch on-chain; the authority has to sign them. The run log's address is an account of the
 * first one, which reads no account, because the memo program takes signers alone.
 */
export function runLogInstructions(
  batch: RunLogBatch,
  authority: PublicKey,
  programId: PublicKey = MARKETPLACE_PROGRAM_ID,
): TransactionInstruction[] {
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: RUN_LOG_COMPUTE_UNITS });
  const log = { pubkey: findRunLogAddress(programId).address, isSigner: false, isWritable: false };
  limit.keys.push(log);
  const memo = new TransactionInstruction({
    programId: MEMO_PROGRAM_ID,
    keys: [{ pubkey: authority, isSigner: true, isWritable: false }],
    data: Buffer.from(formatRunLogMemo(batch), 'utf8'),
  });
  return [limit, memo];
}
