import { ComputeBudgetProgram, PACKET_DATA_SIZE, type TransactionInstruction } from '@solana/web3.js';

const KEY_BYTES = 32;
/**
 * Of a transaction of version 0 with one signature, everything but account keys and instructions: the count of signatures
 * and the signature, the version, the header, the counts of keys and instructions, the blockhash, no lookup tables.
 */
const FRAME_BYTES = 1 + 64 + 1 + 3 + 1 + 1 + 32 + 1;
/** The two instructions that set limit and price of compute units: program, no accounts, and 5 and 9 bytes of data. */
const COMPUTE_BUDGET_BYTES = 1 + 1 + 1 + 5 + (1 + 1 + 1 + 9);

/**
 * How many of these instructions, from the first on, fit into one transaction of 1,232 bytes that sets a limit and a price
 * of compute units and whose payer is among their accounts.
 *
 * @param instructions each with fewer than 128 accounts and bytes of data, as all of the program's.
 */
export function countThatFit(instructions: readonly TransactionInstruction[]): number {
  const keys = new Set<string>([ComputeBudgetProgram.programId.toBase58()]);
  let bytes = FRAME_BYTES + COMPUTE_BUDGET_BYTES + KEY_BYTES;
  for (const [count, { programId, keys: accounts, data }] of instructions.entries()) {
    for (const key of [programId, ...accounts.map(({ pubkey }) => pubkey)]) {
      const address = key.toBase58();
      if (!keys.has(address)) bytes += KEY_BYTES;
      keys.add(address);
    }
    bytes += 1 + 1 + accounts.length + 1 + data.length;
    if (bytes > PACKET_DATA_SIZE) return count;
  }
  return instructions.length;
}
