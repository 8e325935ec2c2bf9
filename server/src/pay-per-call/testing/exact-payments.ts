import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { ExactTerms } from '../usdc/exact-payment.js';
import { TOKEN_PROGRAM, tokenAccountOf } from '../usdc/token.js';

export const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
export const LIGHTHOUSE_PROGRAM = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

/** A transfer of tokens between wallets, in the form of stock clients. */
export function transferOf(
  terms: { mint: PublicKey; amount: bigint },
  from: PublicKey,
  to: PublicKey,
): TransactionInstruction {
  const data = Buffer.alloc(10);
  data[0] = 12;
  data.writeBigUInt64LE(terms.amount, 1);
  data[9] = 6;
  return new TransactionInstruction({
    programId: TOKEN_PROGRAM,
    data,
    keys: [
      { pubkey: tokenAccountOf(from, terms.mint), isSigner: false, isWritable: true },
      { pubkey: terms.mint, isSigner: false, isWritable: false },
      { pubkey: tokenAccountOf(to, terms.mint), isSigner: false, isWritable: true },
      { pubkey: from, isSigner: true, isWritable: false },
    ],
  });
}

/** A memo, as stock clients write it. */
export function memoOf(text: string): TransactionInstruction {
  return new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(text) });
}

/** The instructions of the one payment by these terms. */
export function instructionsOf(terms: ExactTerms, payer: PublicKey): TransactionInstruction[] {
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
    transferOf(terms, payer, terms.till),
    memoOf(terms.memo),
  ];
}

/** Signed by the payer, in base64, as x402 carries it. */
export function signedBy(
  payer: Keypair,
  instructions: TransactionInstruction[],
  { feePayer, blockhash }: { feePayer: PublicKey; blockhash: string },
  others: Keypair[] = [],
): string {
  const message = new TransactionMessage({ payerKey: feePayer, recentBlockhash: blockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([payer, ...others]);
  return Buffer.from(transaction.serialize()).toString('base64');
}
