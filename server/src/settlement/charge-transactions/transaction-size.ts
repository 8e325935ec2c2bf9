import {
  ComputeBudgetProgram,
  PACKET_DATA_SIZE,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';

const KEY_BYTES = 32;
/**
 * The size of a version 0 transaction with one signature, without account keys and instructions. It has the count of
 * signatures, the signature, version, header, counts of keys and instructions, the blockhash, no lookup tables.
 */
const FRAME_BYTES = 1 + 64 + 1 + 3 + 1 + 1 + 32 + 1;
/** The two instructions that set limit and price of compute units: program, no accounts, and 5 and 9 bytes of data. */
const COMPUTE_BUDGET_BYTES = 1 + 1 + 1 + 5 + (1 + 1 + 1 + 9);
/**
 * Of an instruction, everything but its accounts and data: its program and the counts of both. Its accounts are fewer than
 * 128, as the program reads no more than 64.
 */
const INSTRUCTION_BYTES = 1 + 1 + 1;
/** The same where there may be 128 bytes of data and more. */
const LONG_INSTRUCTION_BYTES = 1 + 1 + 2;
/** The head of a `consume_queries`: the instruction's discriminator, and the number of charges. */
const BATCH_BYTES = 8 + 4;
const DISCRIMINATOR_BYTES = 8;

/** A part of a transaction: accounts that it names, and bytes beside their addresses. */
interface Part {
  readonly keys: readonly PublicKey[];
  readonly bytes: number;
}

/**
 * How many of these `consume_query` of one listing, from the first on, fit into one transaction of 1,232 bytes. The
 * transaction sets a limit and a price of compute units, and its payer is among their accounts.
 *
 * @param areTogether whether they are one `consume_queries`, or an instruction each.
 */
export function countThatFit(charges: readonly TransactionInstruction[], areTogether: boolean): number {
  const [first] = charges;
  if (!first) return 0;
  // Of a `consume_query`: authority, protocol, listing, escrow, buyer, credential, balance, treasury.
  const ofBuyer = ({ keys }: TransactionInstruction) => keys.slice(4, 7).map(({ pubkey }) => pubkey);
  const shared = [...first.keys.slice(0, 4), ...first.keys.slice(7)].map(({ pubkey }) => pubkey);
  const begin = { keys: [ComputeBudgetProgram.programId, first.programId, ...shared] };
  return areTogether
    ? countOfParts(
        { ...begin, bytes: LONG_INSTRUCTION_BYTES + shared.length + BATCH_BYTES },
        charges.map((charge) => ({
          keys: ofBuyer(charge).slice(1),
          bytes: 2 + charge.data.length - DISCRIMINATOR_BYTES,
        })),
      )
    : countOfParts(
        { ...begin, bytes: 0 },
        charges.map((charge) => ({
          keys: ofBuyer(charge),
          bytes: INSTRUCTION_BYTES + charge.keys.length + charge.data.length,
        })),
      );
}

function countOfParts(begin: Part, parts: readonly Part[]): number {
  const known = new Set<string>();
  let bytes = FRAME_BYTES + COMPUTE_BUDGET_BYTES;
  const add = (part: Part): void => {
    for (const key of part.keys) {
      const address = key.toBase58();
      if (!known.has(address)) bytes += KEY_BYTES;
      known.add(address);
    }
    bytes += part.bytes;
  };
  add(begin);
  for (const [count, part] of parts.entries()) {
    add(part);
    if (bytes > PACKET_DATA_SIZE) return count;
  }
  return parts.length;
}
