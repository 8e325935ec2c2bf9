import { VersionedTransaction, type VersionedMessage } from '@solana/web3.js';

/** The largest transaction that fits a network packet, in bytes. */
export const MAX_TRANSACTION_BYTES = 1232;

export interface WireTransaction {
  bytes: Uint8Array;
  /** The first signature, which identifies the transaction. */
  signature: Uint8Array;
  message: VersionedMessage;
  recentBlockhash: string;
}

/** The bytes are not a transaction that may be executed. */
export class InvalidTransactionError extends Error {
  override readonly name = 'InvalidTransactionError';
}

/**
 * Parses transaction bytes and refuses bytes that differ from the encoding of the parsed transaction. The native runtime
 * aborts the process on bytes that it cannot decode, so only bytes that passed this check reach it.
 */
export function parseWireTransaction(bytes: Uint8Array): WireTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw new InvalidTransactionError(
      `transaction too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`,
    );
  }
  let transaction: VersionedTransaction;
  let encodedAgain: Uint8Array;
  try {
    transaction = VersionedTransaction.deserialize(bytes);
    encodedAgain = transaction.serialize();
  } catch {
    throw new InvalidTransactionError('failed to deserialize transaction');
  }
  if (Buffer.compare(encodedAgain, bytes) !== 0) {
    throw new InvalidTransactionError('failed to deserialize transaction: not in canonical form');
  }
  const { message, signatures } = transaction;
  const signature = signatures[0];
  const { numRequiredSignatures, numReadonlySignedAccounts } = message.header;
  const soundHeader =
    signatures.length === numRequiredSignatures &&
    numReadonlySignedAccounts < numRequiredSignatures &&
    numRequiredSignatures <= message.staticAccountKeys.length;
  if (signature === undefined || !soundHeader) {
    throw new InvalidTransactionError(
      'invalid transaction: Transaction failed to sanitize accounts offsets correctly',
    );
  }
  return { bytes, signature, message, recentBlockhash: message.recentBlockhash };
}

/**
 * The first signature and the addresses that stored transaction bytes name. For bytes that passed
 * {@link parseWireTransaction} once; about fifty times faster than parsing them again.
 */
export function readAddresses(wire: Uint8Array): { signature: Uint8Array; staticAddresses: Uint8Array[] } {
  let offset = 0;
  const shortVecLength = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wire[offset] ?? 0;
      offset += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const signatureCount = shortVecLength();
  const signature = wire.subarray(offset, offset + 64);
  offset += signatureCount * 64;
  const versioned = (wire[offset] ?? 0) >= 0x80;
  offset += versioned ? 4 : 3;
  const count = shortVecLength();
  const staticAddresses = Array.from({ length: count }, (_, index) =>
    wire.subarray(offset + index * 32, offset + index * 32 + 32),
  );
  return { signature, staticAddresses };
}
