import { ComputeBudgetProgram } from '@solana/web3.js';
import { UntrustedTransactionError } from './untrusted-transaction.js';
import type { WireInstruction } from './wire-transaction.js';

/** The most compute units that a transaction may request. Without a stated limit, the check assumes this number. */
const MAX_COMPUTE_UNITS = 1_400_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

/** ComputeBudget's instructions by their first byte, with their lengths. Deprecated ones are left out. */
const TAGS = { requestHeapFrame: 1, setUnitLimit: 2, setUnitPrice: 3, setLoadedAccountsLimit: 4 } as const;
const LENGTHS = new Map<number, number>([
  [TAGS.requestHeapFrame, 5],
  [TAGS.setUnitLimit, 5],
  [TAGS.setUnitPrice, 9],
  [TAGS.setLoadedAccountsLimit, 5],
]);

/** Whether an instruction is for the ComputeBudget program. */
export function isComputeBudget(instruction: WireInstruction): boolean {
  return instruction.programId.equals(ComputeBudgetProgram.programId);
}

/**
 * The highest priority fee that ComputeBudget instructions can add, in lamports.
 *
 * @throws UntrustedTransactionError `network_fee` for unknown instructions.
 */
export function priorityFeeLamports(instructions: readonly WireInstruction[]): bigint {
  const given = new Map<number, bigint>();
  for (const { data, keys } of instructions) {
    const tag = data[0] ?? 0;
    if (LENGTHS.get(tag) !== data.length || keys.length > 0 || given.has(tag)) {
      throw new UntrustedTransactionError(
        'network_fee',
        'has a ComputeBudget instruction of an unknown form',
      );
    }
    given.set(tag, littleEndian(data.subarray(1)));
  }
  const units = given.get(TAGS.setUnitLimit) ?? MAX_COMPUTE_UNITS;
  const microLamports =
    (units < MAX_COMPUTE_UNITS ? units : MAX_COMPUTE_UNITS) * (given.get(TAGS.setUnitPrice) ?? 0n);
  return (microLamports + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
