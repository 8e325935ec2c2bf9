import { consumeQueries, consumeQuery } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  MessageV0,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { AuthoritySigner, Chain, PriorityFees, ProtocolReader } from '../../chain/index.js';
import type { Charge, SignedCharge } from '../charge.js';
import { createBatchSupport } from './charge-batches.js';
import { countThatFit } from './transaction-size.js';

/** Compute units of one charge: several times the need of one, alone or among others, and low enough to keep the priority fee small. */
const COMPUTE_UNIT_LIMIT = 10_000;

/** Builds and signs the transactions that charge runs. */
export interface ChargeSigner {
  /** The `consume_query` of a charge, over no blockhash yet. It is built once for its simulation and its signature. */
  message(charge: Charge): Promise<MessageV0>;
  /** Reads the protocol account anew, and builds the message anew if it names another treasury or authority; else undefined. */
  rebuilt(charge: Charge): Promise<MessageV0 | undefined>;
  /** How many of these charges, from the first on, fit into one transaction. */
  countThatFit(charges: readonly Charge[]): Promise<number>;
  /**
   * Signs charges of one listing in one transaction over a recent blockhash: several in one `consume_queries`, where the
   * program has it. The sequence of a charge does not change, so it can take
   * effect only once. All of them take effect, or none.
   */
  sign(charges: readonly Charge[], freshBlockhash?: boolean): Promise<SignedCharge>;
}

/**
 * Makes the signer.
 *
 * @param protocol tells the treasury, which the protocol's admin may change at any time.
 * @param fees gives the priority fee of a compute unit.
 */
export function createChargeSigner(deps: {
  chain: Chain;
  authority: AuthoritySigner;
  protocol: Pick<ProtocolReader, 'current' | 'refreshed'>;
  fees: Pick<PriorityFees, 'latest'>;
}): ChargeSigner {
  const { chain, authority, protocol, fees } = deps;
  const noBlockhash = PublicKey.default.toBase58();
  const instructions = new WeakMap<
    Charge,
    { instruction: TransactionInstruction; treasury: PublicKey; payer: PublicKey }
  >();
  const built = new WeakMap<Charge, { message: MessageV0; treasury: PublicKey; payer: PublicKey }>();

  /** Deriving its addresses takes milliseconds: it is made once for the simulation, the size of a pack and the signature. */
  function instructionOf(charge: Charge, treasury: PublicKey): TransactionInstruction {
    const known = instructions.get(charge);
    if (known?.treasury.equals(treasury) && known.payer.equals(authority.publicKey)) return known.instruction;
    const instruction = consumeQuery({
      authority: authority.publicKey,
      buyer: new PublicKey(charge.wallet),
      listingId: charge.listing_id,
      treasury,
      sequence: charge.sequence,
      runId: runIdBytes(charge.run_id),
      priceLamports: charge.price_lamports,
      programId: chain.programId,
    });
    instructions.set(charge, { instruction, treasury, payer: authority.publicKey });
    return instruction;
  }

  const hasBatches = createBatchSupport(chain);
  /** Whether several charges are one instruction; asked with the first of them. */
  const areTogether = ([first]: readonly Charge[], treasury: PublicKey): Promise<boolean> =>
    hasBatches(() => compile(first ? [consumeQueries([instructionOf(first, treasury)])] : [], 1));

  function compile(consumes: readonly TransactionInstruction[], count: number): MessageV0 {
    const writable = consumes.flatMap(({ keys }) =>
      keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey),
    );
    const units = COMPUTE_UNIT_LIMIT * count;
    const price = fees.latest(writable, units);
    return new TransactionMessage({
      payerKey: authority.publicKey,
      recentBlockhash: noBlockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units }),
        ...(price > 0n ? [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })] : []),
        ...consumes,
      ],
    }).compileToV0Message();
  }

  function build(charge: Charge, treasury: PublicKey): MessageV0 {
    const message = compile([instructionOf(charge, treasury)], 1);
    built.set(charge, { message, treasury, payer: authority.publicKey });
    return message;
  }

  const message = async (charge: Charge): Promise<MessageV0> =>
    built.get(charge)?.message ?? build(charge, (await protocol.current()).treasury);

  const messageOf = async (charges: readonly Charge[]): Promise<MessageV0> => {
    const [only, ...others] = charges;
    if (only && others.length === 0) return message(only);
    const { treasury } = await protocol.current();
    const each = charges.map((charge) => instructionOf(charge, treasury));
    return compile((await areTogether(charges, treasury)) ? [consumeQueries(each)] : each, charges.length);
  };

  return {
    message,
    async rebuilt(charge) {
      const before = built.get(charge);
      const { treasury } = await protocol.refreshed();
      const isSame = before?.treasury.equals(treasury) && before.payer.equals(authority.publicKey);
      return isSame ? undefined : build(charge, treasury);
    },
    async countThatFit(charges) {
      const { treasury } = await protocol.current();
      const each = charges.map((charge) => instructionOf(charge, treasury));
      return countThatFit(each, await areTogether(charges, treasury));
    },
    async sign(charges, freshBlockhash = false) {
      const [{ blockhash, lastValidBlockHeight }, undated] = await Promise.all([
        chain.latestBlockhash(freshBlockhash),
        messageOf(charges),
      ]);
      const { header, staticAccountKeys, compiledInstructions, addressTableLookups } = undated;
      const dated = new MessageV0({
        header,
        staticAccountKeys,
        recentBlockhash: blockhash,
        compiledInstructions,
        addressTableLookups,
      });
      const signature = await authority.sign(dated.serialize());
      const transaction = new VersionedTransaction(dated, [signature]);
      return {
        signature: bs58.encode(signature),
        signedBytes: Buffer.from(transaction.serialize()),
        lastValidBlockHeight: BigInt(lastValidBlockHeight),
      };
    },
  };
}

/** The 16 bytes of a run's UUID, as the program takes them. */
function runIdBytes(runId: string): Uint8Array {
  return Uint8Array.from(Buffer.from(runId.replaceAll('-', ''), 'hex'));
}
