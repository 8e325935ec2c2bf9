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
import type { Chain, PriorityFees, ProtocolReader } from '../chain/index.js';
import { ed25519PrivateKey } from '../platform/keys.js';
import type { Charge, SignedCharge } from './charge.js';

/** Several times what `consume_query` needs; a bound, so that the fee of a priority price stays small. */
const COMPUTE_UNIT_LIMIT = 10_000;

/** Builds and signs the transactions that charge runs. */
export interface ChargeSigner {
  /** The `consume_query` of a charge, over no blockhash yet. It is built once for its simulation and its signature. */
  message(charge: Charge): Promise<MessageV0>;
  /** Reads the protocol account anew, and builds the message anew if it names another treasury; else undefined. */
  rebuilt(charge: Charge): Promise<MessageV0 | undefined>;
  /** Signs it over a recent blockhash; the sequence stays, so it can charge once at most. */
  sign(charge: Charge, freshBlockhash?: boolean): Promise<SignedCharge>;
}

/**
 * Makes the signer.
 *
 * @param protocol tells the treasury, which the protocol's admin may change at any time.
 * @param fees gives the priority fee of a compute unit.
 */
export function createChargeSigner(deps: {
  chain: Chain;
  authority: Keypair;
  protocol: Pick<ProtocolReader, 'current' | 'refreshed'>;
  fees: Pick<PriorityFees, 'latest'>;
}): ChargeSigner {
  const { chain, authority, protocol, fees } = deps;
  // Every paid run waits for a signature.
  const privateKey = ed25519PrivateKey(authority.secretKey.subarray(0, 32));
  const noBlockhash = PublicKey.default.toBase58();
  const built = new WeakMap<Charge, { message: MessageV0; treasury: PublicKey }>();

  function build(charge: Charge, treasury: PublicKey): MessageV0 {
    const consume = consumeQuery({
      authority: authority.publicKey,
      buyer: new PublicKey(charge.wallet),
      listingId: charge.listing_id,
      treasury,
      sequence: charge.sequence,
      runId: runIdBytes(charge.run_id),
      priceLamports: charge.price_lamports,
      programId: chain.programId,
    });
    const writable = consume.keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey);
    const price = fees.latest(writable, COMPUTE_UNIT_LIMIT);
    const message = new TransactionMessage({
      payerKey: authority.publicKey,
      recentBlockhash: noBlockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNIT_LIMIT }),
        ...(price > 0n ? [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })] : []),
        consume,
      ],
    }).compileToV0Message();
    built.set(charge, { message, treasury });
    return message;
  }

  const message = async (charge: Charge): Promise<MessageV0> =>
    built.get(charge)?.message ?? build(charge, (await protocol.current()).treasury);

  return {
    message,
    async rebuilt(charge) {
      const before = built.get(charge)?.treasury;
      const { treasury } = await protocol.refreshed();
      return before?.equals(treasury) ? undefined : build(charge, treasury);
    },
    async sign(charge, freshBlockhash = false) {
      const [{ blockhash, lastValidBlockHeight }, undated] = await Promise.all([
        chain.latestBlockhash(freshBlockhash),
        message(charge),
      ]);
      const { header, staticAccountKeys, compiledInstructions, addressTableLookups } = undated;
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
function runIdBytes(runId: string): Uint8Array {
  return Uint8Array.from(Buffer.from(runId.replaceAll('-', ''), 'hex'));
}
