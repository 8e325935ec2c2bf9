import { sign } from 'node:crypto';
import { consumeQuery } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type Keypair,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { Chain } from '../chain/index.js';
import { ed25519PrivateKey } from '../platform/keys.js';
import type { Charge, SignedCharge } from './charge-repository.js';

/** Several times what `consume_query` needs; a bound, so that the fee of a priority price stays small. */
const COMPUTE_UNIT_LIMIT = 20_000;

/** Builds and signs the transactions that charge runs. */
export interface ChargeSigner {
  readonly authority: PublicKey;
  /** The `consume_query` of a charge; the same whenever it is built. */
  instruction(charge: Charge): TransactionInstruction;
  /** Signs it over a recent blockhash; the sequence stays, so it can charge once at most. */
  sign(charge: Charge, freshBlockhash?: boolean): Promise<SignedCharge>;
}

export function createChargeSigner(chain: Chain, authority: Keypair, treasury: PublicKey): ChargeSigner {
  // Every paid run waits for a signature.
  const privateKey = ed25519PrivateKey(authority.secretKey.subarray(0, 32));
  const instruction = (charge: Charge) =>
    consumeQuery({
      authority: authority.publicKey,
      buyer: new PublicKey(charge.wallet),
      listingId: charge.listing_id,
      treasury,
      sequence: charge.sequence,
      runId: runIdBytes(charge.run_id),
      programId: chain.programId,
    });
  return {
    authority: authority.publicKey,
    instruction,
    async sign(charge, freshBlockhash = false) {
      const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash(freshBlockhash);
      const message = new TransactionMessage({
        payerKey: authority.publicKey,
        recentBlockhash: blockhash,
        instructions: [
          ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNIT_LIMIT }),
          instruction(charge),
        ],
      });
      const transaction = new VersionedTransaction(message.compileToV0Message());
      transaction.addSignature(authority.publicKey, sign(null, transaction.message.serialize(), privateKey));
      return {
        signature: bs58.encode(transaction.signatures[0] ?? new Uint8Array()),
        wire: Buffer.from(transaction.serialize()),
        lastValidBlockHeight: BigInt(lastValidBlockHeight),
      };
    },
  };
}

/** The 16 bytes of a run's UUID, as the program takes them. */
export function runIdBytes(runId: string): Uint8Array {
  return Uint8Array.from(Buffer.from(runId.replaceAll('-', ''), 'hex'));
}
