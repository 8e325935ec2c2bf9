import {
  Keypair,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import type { SignatureStatus } from '@solana/web3.js';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import type { Chain } from '../chain/index.js';

/** The status of a transaction that has landed. */
export const LANDED: SignatureStatus = {
  slot: 1,
  confirmations: 1,
  err: null,
  confirmationStatus: 'confirmed',
};

/** A transaction of these instructions, which the wallet pays and signs. */
export function signed(instructions: TransactionInstruction[], payer: Keypair): VersionedTransaction {
  const recentBlockhash = Keypair.generate().publicKey.toBase58();
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([payer]);
  return transaction;
}

export const base64Of = (transaction: VersionedTransaction) =>
  Buffer.from(transaction.serialize()).toString('base64');

/** A chain that has seen nothing yet, where blockhashes are valid up to block 150. */
export const chainWith = (chain: Partial<Chain>): Chain =>
  ({
    programId: MARKETPLACE_PROGRAM_ID,
    preflight: async () => null,
    statuses: async () => [null],
    latestBlockhash: async () => ({ blockhash: '', lastValidBlockHeight: 150, lifeSeconds: 30 }),
    blockHeight: async () => 1n,
    logsOf: async () => [],
    send: async () => undefined,
    ...chain,
  }) as Chain;
