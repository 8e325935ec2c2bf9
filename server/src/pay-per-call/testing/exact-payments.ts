import { MEMO_PROGRAM_ID } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { ExactTerms } from '../usdc/exact-payment.js';
import { transferTokens } from '../usdc/token.js';

export const LIGHTHOUSE_PROGRAM = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

/** A transfer of tokens between wallets, in the form of stock clients. */
export const transferOf = (
  { mint, amount }: { mint: PublicKey; amount: bigint },
  from: PublicKey,
  to: PublicKey,
): TransactionInstruction => transferTokens(mint, { from, to, units: amount });

/** A memo, as stock clients write it. */
export function memoOf(text: string): TransactionInstruction {
  return new TransactionInstruction({ programId: MEMO_PROGRAM_ID, keys: [], data: Buffer.from(text) });
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
