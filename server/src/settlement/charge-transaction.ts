import { sign } from 'node:crypto';
import { consumeQuery } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  MessageV0,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type Keypair,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { Chain } from '../chain/index.js';
import { ed25519PrivateKey } from '../platform/keys.js';
import type { Charge, SignedCharge } from './charge-repository.js';

/** Several times what `consume_query` needs; a bound, so that the fee of a priority price stays small. */
const COMPUTE_UNIT_LIMIT = 20_000;

/** Builds and signs the transactions that charge runs. */
export interface ChargeSigner {
  /** The `consume_query` of a charge, over no blockhash yet; the same whenever it is built. */
  message(charge: Charge): MessageV0;
  /** Signs it over a recent blockhash; the sequence stays, so it can charge once at most. */
  sign(charge: Charge, freshBlockhash?: boolean): Promise<SignedCharge>;
}

export function createChargeSigner(chain: Chain, authority: Keypair, treasury: PublicKey): ChargeSigner {
  // Every paid run waits for a signature.
  const privateKey = ed25519PrivateKey(authority.secretKey.subarray(0, 32));
  const noBlockhash = PublicKey.default.toBase58();
  /** It is simulated, and then signed. */
  const built = new WeakMap<Charge, MessageV0>();
  const build = (charge: Charge): MessageV0 =>
    new TransactionMessage({
      payerKey: authority.publicKey,
      recentBlockhash: noBlockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNIT_LIMIT }),
        consumeQuery({
          authority: authority.publicKey,
          buyer: new PublicKey(charge.wallet),
          listingId: charge.listing_id,
          treasury,
          sequence: charge.sequence,
          runId: runIdBytes(charge.run_id),
          programId: chain.programId,
        }),
      ],
    }).compileToV0Message();
  const message = (charge: Charge): MessageV0 => {
    const known = built.get(charge) ?? build(charge);
    built.set(charge, known);
    return known;
  };
  return {
    message,
    async sign(charge, freshBlockhash = false) {
      const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash(freshBlockhash);
      const { header, staticAccountKeys, compiledInstructions, addressTableLookups } = message(charge);
      const dated = new MessageV0({
        header,
        staticAccountKeys,
        recentBlockhash: blockhash,
        compiledInstructions,
        addressTableLookups,
      });
      const signature = sign(null, dated.serialize(), privateKey);
      const transaction = new VersionedTransaction(dated, [signature]);
      return {
        signature: bs58.encode(signature),
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
