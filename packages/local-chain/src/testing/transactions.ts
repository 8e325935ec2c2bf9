import {
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  type Keypair,
} from '@solana/web3.js';

export const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

export function memo(text: string, programId = MEMO_PROGRAM): TransactionInstruction {
  return new TransactionInstruction({ programId, keys: [], data: Buffer.from(text, 'utf8') });
}

export function transfer(from: PublicKey, to: PublicKey, lamports: number): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports });
}

export function signed(
  payer: Keypair,
  recentBlockhash: string,
  instructions: TransactionInstruction[],
): VersionedTransaction {
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([payer]);
  return transaction;
}

export function base64(transaction: VersionedTransaction): string {
  return Buffer.from(transaction.serialize()).toString('base64');
}
