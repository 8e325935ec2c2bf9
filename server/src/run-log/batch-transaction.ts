import { runLogInstructions, RUN_LOG_COMPUTE_UNITS } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type MessageV0,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { AuthoritySigner, Chain, PriorityFees } from '../chain/index.js';
import type { Batch, SignedBatch } from './repository.js';

/** Builds and signs the transactions that put batches on-chain. */
export interface BatchSigner {
  /** A batch's transaction over no blockhash, for its simulation. */
  message(batch: Batch): MessageV0;
  /** Signs a batch's transaction over a fresh blockhash. */
  sign(batch: Batch): Promise<SignedBatch>;
}

/**
 * Makes the signer.
 *
 * @param deps.fees gives the priority fee of a compute unit
 */
export function createBatchSigner({
  chain,
  authority,
  fees,
}: {
  chain: Pick<Chain, 'programId' | 'latestBlockhash'>;
  authority: AuthoritySigner;
  fees: Pick<PriorityFees, 'latest'>;
}): BatchSigner {
  function build(batch: Batch, recentBlockhash: string): MessageV0 {
    const price = fees.latest([authority.publicKey], RUN_LOG_COMPUTE_UNITS);
    const onChain = {
      batch: batch.number,
      count: batch.count,
      previousRoot: batch.previousRoot.toString('hex'),
      root: batch.root.toString('hex'),
    };
    return new TransactionMessage({
      payerKey: authority.publicKey,
      recentBlockhash,
      instructions: [
        ...(price > 0n ? [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })] : []),
        ...runLogInstructions(onChain, authority.publicKey, chain.programId),
      ],
    }).compileToV0Message();
  }

  return {
    message: (batch) => build(batch, PublicKey.default.toBase58()),
    async sign(batch) {
      const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash(true);
      const message = build(batch, blockhash);
      const signature = await authority.sign(message.serialize());
      const transaction = new VersionedTransaction(message, [signature]);
      return {
        signature: bs58.encode(signature),
        signedBytes: Buffer.from(transaction.serialize()),
        lastValidBlockHeight: BigInt(lastValidBlockHeight),
      };
    },
  };
}
