import type { TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import { consumeQuery, purchaseOneTime } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { seedOf, seededKeypair } from '../../testing/seeded-keys.js';
import { isApiError } from '../../errors.js';
import { checkProposal, inspectProposal, isUntrustedTransaction } from '../index.js';
import { LIGHTHOUSE_PROGRAM_ID } from '../verify/wallet-guard.js';
import { authority, HONEST, listingId, proposalOf, treasury, wallet, withStranger } from './proposals.js';

type Proposal = Pick<TransactionProposal, 'transaction' | 'quote'>;
type Instructions = TransactionInstruction[];

/** The caller's options of a check. */
interface VectorOptions {
  /** The caller judges the amounts. */
  inspect: boolean;
  /** The protocol's treasury and keys are known. */
  known: boolean;
  max_priority_fee_lamports?: number;
}

/** One proposal with the sdk's answer. */
interface ProposalVector {
  request: TransactionRequest;
  options: VectorOptions;
  proposal: Proposal;
  answer: object;
}

/** Numbers below a bound, which follow from a name. */
class Dice {
  #count = 0;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  below(bound: number): number {
    this.#count += 1;
    return seedOf(`${this.#name} ${this.#count}`).readUInt32LE(0) % bound;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

const stranger = seededKeypair('stranger').publicKey;
const AMOUNTS = [0, 1, 999, 1_000_000, 5_000_000, 5_000_001, 9_000_000, Number.MAX_SAFE_INTEGER];

function changed(one: TransactionInstruction, part: Partial<TransactionInstruction>): TransactionInstruction {
  return new TransactionInstruction({ keys: one.keys, programId: one.programId, data: one.data, ...part });
}

function bytesChanged(bytes: Uint8Array, dice: Dice): Buffer {
  const copy = Buffer.from(bytes);
  const at = dice.below(Math.max(copy.length, 1));
  copy[at] = (copy[at] ?? 0) ^ (1 << dice.below(8));
  return copy;
}

/** Changes of instructions before they are compiled. */
const CHANGES: ((given: Instructions, dice: Dice) => Instructions)[] = [
  (given) => given,
  ([first, ...rest], dice) =>
    first ? [changed(first, { data: bytesChanged(first.data, dice) }), ...rest] : rest,
  // Another amount: the arguments end with one.
  ...Array.from({ length: 5 }, () => ([first, ...rest]: Instructions, dice: Dice) => {
    if (!first || first.data.length < 16) return rest;
    const data = Buffer.from(first.data);
    data.writeBigUInt64LE(BigInt(dice.of(AMOUNTS)), data.length - 8);
    return [changed(first, { data }), ...rest];
  }),
  ([first, ...rest], dice) => {
    if (!first) return rest;
    const at = dice.below(first.keys.length);
    const pubkey = dice.of([stranger, wallet.publicKey, treasury, SystemProgram.programId]);
    const keys = first.keys.map((key, place) => (place === at ? { ...key, pubkey } : key));
    return [changed(first, { keys }), ...rest];
  },
  ([first, ...rest], dice) => {
    if (!first) return rest;
    const key = { pubkey: stranger, isSigner: dice.below(2) === 0, isWritable: dice.below(2) === 0 };
    return [changed(first, { keys: [...first.keys, key] }), ...rest];
  },
  (given) =>
    given.map((one) => changed(one, { keys: one.keys.map((key) => ({ ...key, isWritable: true })) })),
  ([first, ...rest], dice) =>
    first ? [changed(first, { keys: first.keys.slice(0, dice.below(first.keys.length)) }), ...rest] : rest,
  (given, dice) => [
    ComputeBudgetProgram.setComputeUnitLimit({ units: dice.of([1, 50_000, 100_000, 1_400_000, 4_000_000]) }),
    ComputeBudgetProgram.setComputeUnitPrice({
      microLamports: dice.of([0n, 1n, 71_428n, 1_000_000n, 2n ** 64n - 1n]),
    }),
    ...given,
  ],
  (given, dice) => [
    changed(ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }), {
      data: Buffer.from([dice.below(6), ...Array.from({ length: dice.below(10) }, () => dice.below(256))]),
    }),
    ...given,
  ],
  (given, dice) => [
    ...given,
    new TransactionInstruction({
      programId: LIGHTHOUSE_PROGRAM_ID,
      keys: [{ pubkey: stranger, isSigner: false, isWritable: dice.below(4) === 0 }],
      data: Buffer.from([dice.below(20), 1, 2]),
    }),
  ],
  (given) => [...given, ...given],
  () => [],
  (given, dice) => [
    ...given,
    dice.of([
      SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: stranger, lamports: 1 }),
      consumeQuery({
        buyer: wallet.publicKey,
        authority: wallet.publicKey,
        treasury,
        listingId,
        sequence: 1n,
        priceLamports: 1n,
        runId: new Uint8Array(16),
      }),
      purchaseOneTime({
        buyer: wallet.publicKey,
        listingId,
        treasury,
        maxPriceLamports: 1n,
        programId: stranger,
      }),
    ]),
  ],
  (given) => given.map((one) => changed(one, { programId: stranger })),
];

/** Changes of a compiled proposal. */
const PROPOSAL_CHANGES: ((given: Proposal, dice: Dice) => Proposal)[] = [
  (given) => given,
  ({ transaction, quote }, dice) => ({
    transaction: bytesChanged(Buffer.from(transaction, 'base64'), dice).toString('base64'),
    quote,
  }),
  ({ transaction, quote }, dice) => {
    const wire = Buffer.from(transaction, 'base64');
    const cut = dice.of([
      wire.subarray(0, -1 - dice.below(wire.length - 1)),
      Buffer.concat([wire, Buffer.of(0)]),
    ]);
    return { transaction: cut.toString('base64'), quote };
  },
  ({ transaction, quote }, dice) => {
    const name = dice.of([
      'price_lamports',
      'max_price_lamports',
      'rent_lamports',
      'network_fee_lamports',
      'added_seconds',
    ] as const);
    return { transaction, quote: { ...quote, [name]: dice.of(AMOUNTS) } };
  },
  ...Array.from(
    { length: 2 },
    () => (given: Proposal, dice: Dice) =>
      withStranger(given, stranger, { signers: dice.below(2), readonly: dice.below(2) }),
  ),
  ({ transaction, quote }) => {
    const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
    const table = { accountKey: stranger, writableIndexes: [0], readonlyIndexes: [] };
    message.addressTableLookups.push(table);
    const hiding = new VersionedTransaction(message, signatures);
    return { transaction: Buffer.from(hiding.serialize()).toString('base64'), quote };
  },
  ({ transaction, quote }) => {
    const { max_price_lamports: _, ...rest } = quote;
    return { transaction, quote: rest };
  },
  ({ transaction, quote }, dice) => {
    // A legacy message, with or without the authority's signature.
    const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
    const legacy = new VersionedTransaction(TransactionMessage.decompile(message).compileToLegacyMessage());
    const { header, staticAccountKeys } = legacy.message;
    const signers = staticAccountKeys.slice(0, header.numRequiredSignatures);
    const isCosigned = signers.some((key) => key.equals(authority.publicKey));
    if (isCosigned && dice.below(2) === 0) legacy.sign([authority]);
    return { transaction: Buffer.from(legacy.serialize()).toString('base64'), quote };
  },
];

/** Changes of the request. */
const REQUEST_CHANGES: ((given: TransactionRequest, dice: Dice) => TransactionRequest)[] = [
  (given) => given,
  (_, dice) => dice.of(Object.values(HONEST)).request,
  (given) => ({ ...given, listing_id: 'invoice-reader-aaaaaa' }),
  ...Array.from({ length: 2 }, () => (given: TransactionRequest) => {
    const { max_price_lamports: _, deposit_lamports: __, ...rest } = given as Record<string, unknown>;
    return rest as unknown as TransactionRequest;
  }),
  (given, dice) => {
    const name = dice.of([
      'max_price_lamports',
      'deposit_lamports',
      'duration_seconds',
      'amount_lamports',
      'price_lamports',
      'min_deposit_lamports',
    ]);
    if (given.action === 'publish') {
      const listing = {
        rental_model: dice.of(['one_time', 'per_query'] as const),
        price_lamports: 5_000_000,
      };
      return { ...given, listing: { ...listing, ...(dice.below(2) ? { min_deposit_lamports: 1 } : {}) } };
    }
    const value = name === 'duration_seconds' ? dice.of([2_592_000, 7_776_000]) : dice.of(AMOUNTS);
    return { ...given, [name]: value };
  },
  (given) => (given.action === 'renew' ? { ...given, early: true } : given),
];

/**
 * Proposals good and bad, with the sdk's answers. They follow from their number, so that a client in another language gives
 * the same answers to the same file.
 */
export function proposalVectors(count: number): ProposalVector[] {
  const vectors: ProposalVector[] = [];
  for (let number = 0; vectors.length < count; number += 1) {
    const dice = new Dice(`proposal ${number}`);
    const { request: honest, instructions } = dice.of(Object.values(HONEST));
    // Most vectors have one kind of change, or none.
    const kind = dice.below(4);
    const changeOf = <T>(own: number, changes: readonly T[]): T =>
      kind === own || dice.below(12) === 0 ? dice.of(changes) : (changes[0] as T);
    const request = changeOf(1, REQUEST_CHANGES)(honest, dice);
    const payer = dice.below(30) === 0 ? stranger : wallet.publicKey;
    const options: VectorOptions = {
      inspect: dice.below(2) === 0,
      known: dice.below(2) === 0,
      ...(dice.below(5) === 0 ? { max_priority_fee_lamports: dice.of([0, 1, 2_000_000]) } : {}),
    };
    let proposal: Proposal;
    try {
      const proposed = proposalOf(changeOf(2, CHANGES)(instructions, dice), payer);
      proposal = changeOf(3, PROPOSAL_CHANGES)(proposed, dice);
    } catch {
      // Not every mixture of changes can be compiled.
      continue;
    }
    vectors.push({ request, options, proposal, answer: answerOf(proposal, request, options) });
  }
  return vectors;
}

/** The sdk's answer: the decoded cost, or the reason of the refusal. */
function answerOf(proposal: Proposal, request: TransactionRequest, options: VectorOptions): object {
  const check = options.inspect ? inspectProposal : checkProposal;
  const fee = options.max_priority_fee_lamports;
  try {
    const { quote } = check(proposal, request, wallet.publicKey.toBase58(), {
      ...(options.known ? { treasury, authorities: [authority.publicKey] } : {}),
      ...(fee === undefined ? {} : { maxPriorityFeeLamports: BigInt(fee) }),
    });
    return { quote };
  } catch (error) {
    if (isUntrustedTransaction(error)) return { refused: error.reason };
    if (isApiError(error)) return { refused: error.code };
    throw error;
  }
}
