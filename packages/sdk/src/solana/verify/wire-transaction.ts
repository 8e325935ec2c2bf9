import { verifySignature } from '@agent-rental/ed25519';
import { PACKET_DATA_SIZE, VersionedTransaction, type PublicKey } from '@solana/web3.js';
import { UntrustedTransactionError } from './untrusted-transaction.js';

/** An instruction with resolved accounts. */
export interface WireInstruction {
  programId: PublicKey;
  keys: PublicKey[];
  data: Uint8Array;
}

/** A decoded wire transaction. */
export interface WireTransaction {
  payer: PublicKey;
  /** The required signers, payer first. */
  signers: PublicKey[];
  /** Accounts that the transaction may change. */
  writable: PublicKey[];
  /** All accounts, including programs. */
  accounts: PublicKey[];
  instructions: WireInstruction[];
  /** In the order of `signers`; zeros for a missing signature. */
  signatures: Uint8Array[];
  /** The signed bytes. */
  message: Uint8Array;
  blockhash: string;
}

/**
 * Reads a wire transaction of at most one network packet.
 *
 * @throws UntrustedTransactionError `malformed` or `lookup_table`.
 */
export function readWireTransaction(wire: Uint8Array): WireTransaction {
  const malformed = () => new UntrustedTransactionError('malformed', 'is not a valid wire transaction');
  if (wire.length > PACKET_DATA_SIZE) throw malformed();
  let transaction: VersionedTransaction;
  try {
    transaction = VersionedTransaction.deserialize(wire);
    // Other readers may understand bytes differently that do not serialise back to themselves.
    if (!equalBytes(transaction.serialize(), wire)) throw malformed();
  } catch {
    throw malformed();
  }
  const { message, signatures } = transaction;
  if (message.addressTableLookups.length > 0) {
    throw new UntrustedTransactionError('lookup_table', 'uses address lookup tables, which hide accounts');
  }
  const accounts = message.staticAccountKeys;
  const accountAt = (index: number): PublicKey => {
    const account = accounts[index];
    if (account === undefined) throw malformed();
    return account;
  };
  return {
    payer: accountAt(0),
    signers: accounts.slice(0, message.header.numRequiredSignatures),
    writable: accounts.filter((_, index) => message.isAccountWritable(index)),
    accounts,
    instructions: message.compiledInstructions.map((instruction) => ({
      programId: accountAt(instruction.programIdIndex),
      keys: instruction.accountKeyIndexes.map(accountAt),
      data: instruction.data,
    })),
    signatures,
    message: message.serialize(),
    blockhash: message.recentBlockhash,
  };
}

/** Whether one signer's signature is on the transaction and right. */
export function isSignedBy({ signers, signatures, message }: WireTransaction, signer: PublicKey): boolean {
  const signature = signatures[signers.findIndex((candidate) => candidate.equals(signer))];
  return signature !== undefined && verifySignature({ signature, message, publicKey: signer.toBytes() });
}

/** Whether two byte strings are the same. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
