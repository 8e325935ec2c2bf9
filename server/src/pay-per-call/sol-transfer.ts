import { verifySignature } from '@agent-rental/ed25519';
import { MEMO_PROGRAM_ID } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  type MessageCompiledInstruction,
  type PublicKey,
  SystemProgram,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { PaymentRefusal } from './refusal.js';

/** The one effect that a payer's transaction has to have. */
export interface ExpectedTransfer {
  recipient: PublicKey;
  lamports: bigint;
  /** The whole text of its memo. */
  memo: string;
}

/** Bounds of a payer's compute budget. A plain transfer with a memo needs a tenth of it. */
const MOST_COMPUTE_UNITS = 400_000;
const MOST_PRICE_MICRO_LAMPORTS = 5_000_000n;
const TRANSFER_TAG = 2;
const TRANSFER_BYTES = 12;
const LIMIT_TAG = 2;
const LIMIT_BYTES = 5;
const PRICE_TAG = 3;
const PRICE_BYTES = 9;
/** Largest transaction of the network. */
const MOST_BYTES = 1232;

/** A transaction in its bytes. */
export interface ReadTransaction {
  transaction: VersionedTransaction;
  signature: string;
  bytes: Buffer;
}

/** Reads bytes that encode a transaction in the one way there is. @throws PaymentRefusal */
export function readTransaction(bytes: Buffer): ReadTransaction {
  try {
    if (bytes.length > MOST_BYTES) throw new Error('too long');
    const transaction = VersionedTransaction.deserialize(bytes);
    const [first] = transaction.signatures;
    if (!first || !Buffer.from(transaction.serialize()).equals(bytes)) throw new Error('not canonical');
    return { transaction, signature: bs58.encode(first), bytes };
  } catch (cause) {
    throw new PaymentRefusal('malformed-credential', 'The payment holds no transaction that can be read.', {
      cause,
    });
  }
}

/**
 * Checks that a transaction makes one transfer and has one memo, a bounded compute budget, and nothing else. Its payer
 * alone signs it.
 *
 * @returns the payer
 * @throws PaymentRefusal naming the fault
 */
export function checkSolTransfer({ transaction }: ReadTransaction, expected: ExpectedTransfer): PublicKey {
  const { message, signatures } = transaction;
  const [payer] = message.staticAccountKeys;
  if (message.addressTableLookups.length > 0) throw refuse('It uses an address lookup table.');
  if (!payer || message.header.numRequiredSignatures !== 1 || signatures.length !== 1)
    throw refuse('One wallet alone has to sign it, which pays and bears the fee.');
  if (payer.equals(expected.recipient)) throw refuse('The recipient pays itself.');
  const seen = new Set<string>();
  for (const instruction of message.compiledInstructions) {
    const kind = checkInstruction(instruction, message.staticAccountKeys, payer, expected);
    if (seen.has(kind)) throw refuse(`It has more than one ${kind}.`);
    seen.add(kind);
  }
  for (const kind of ['transfer', 'memo']) if (!seen.has(kind)) throw refuse(`It has no ${kind}.`);
  const [signature = new Uint8Array()] = signatures;
  if (!verifySignature({ message: message.serialize(), signature, publicKey: payer.toBytes() }))
    throw refuse('Its signature is wrong.');
  return payer;
}

/** Checks one instruction; gives its kind. */
function checkInstruction(
  { programIdIndex, accountKeyIndexes, data }: MessageCompiledInstruction,
  accounts: PublicKey[],
  payer: PublicKey,
  { recipient, lamports, memo }: ExpectedTransfer,
): string {
  const program = accounts[programIdIndex];
  const bytes = Buffer.from(data);
  const [first, second, ...others] = accountKeyIndexes.map((index) => accounts[index]);
  if (program?.equals(SystemProgram.programId)) {
    if (bytes.length !== TRANSFER_BYTES || bytes.readUInt32LE() !== TRANSFER_TAG || others.length > 0)
      throw refuse('It asks the System program for something else than a transfer.');
    if (!first?.equals(payer)) throw refuse('Its transfer is not from the wallet that signs.');
    if (!second?.equals(recipient)) throw refuse('Its transfer goes to another recipient.');
    const given = bytes.readBigUInt64LE(4);
    if (given !== lamports)
      throw new PaymentRefusal(
        given < lamports ? 'payment-insufficient' : 'verification-failed',
        `The payment is ${given} lamports in place of ${lamports}.`,
      );
    return 'transfer';
  }
  if (program?.equals(MEMO_PROGRAM_ID)) {
    if (second || (first && !first.equals(payer))) throw refuse('Its memo names other accounts.');
    if (!bytes.equals(Buffer.from(memo))) throw refuse('Its memo is of another challenge.');
    return 'memo';
  }
  if (program?.equals(ComputeBudgetProgram.programId) && !first) {
    if (bytes.length === LIMIT_BYTES && bytes[0] === LIMIT_TAG && bytes.readUInt32LE(1) <= MOST_COMPUTE_UNITS)
      return 'compute limit';
    const isPrice = bytes.length === PRICE_BYTES && bytes[0] === PRICE_TAG;
    if (isPrice && bytes.readBigUInt64LE(1) <= MOST_PRICE_MICRO_LAMPORTS) return 'compute price';
    throw refuse('Its compute budget is beyond the bounds.');
  }
  throw refuse(`It calls a program that a payment does not need: ${program?.toBase58()}.`);
}

const refuse = (reason: string) =>
  new PaymentRefusal('verification-failed', `The payment's transaction is refused. ${reason}`);
