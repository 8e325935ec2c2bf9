import { chargesOf, decodeInstruction, splitChargeError } from '@agent-rental/program-client';
import { PublicKey, VersionedTransaction, type TransactionError } from '@solana/web3.js';

/** A run that a transaction charges, and where in it. */
interface ChargedRun {
  runId: string;
  /** The place of the instruction in the transaction. */
  instruction: number;
  /** The place among the charges of a `consume_queries`; undefined for the one of a `consume_query`. */
  place: number | undefined;
}

/**
 * The runs that a transaction charges, in its order; none for bytes that are no transaction.
 *
 * @param signedBytes bytes that this service signed; of others the caller checks whose program the instructions are for.
 */
export function chargedRuns(signedBytes: Uint8Array): ChargedRun[] {
  let message;
  try {
    ({ message } = VersionedTransaction.deserialize(signedBytes));
  } catch {
    return [];
  }
  const keys = message.staticAccountKeys;
  return message.compiledInstructions.flatMap(({ data, accountKeyIndexes }, instruction) => {
    const call = decodeInstruction(
      data,
      accountKeyIndexes.map((index) => keys[index] ?? PublicKey.default),
    );
    return chargesOf(call).map(({ runId }, place) => ({
      runId: toUuid(runId),
      instruction,
      place: call?.name === 'consume_queries' ? place : undefined,
    }));
  });
}

/**
 * Whether the failure of a transaction is the refusal of this run's charge. A transaction of several charges fails as a
 * whole at the first refused charge, and says nothing about the others. A refusal of their shared part says nothing about
 * any of them.
 */
export function isRefusalOf(runId: string, signedBytes: Uint8Array, error: TransactionError): boolean {
  const runs = chargedRuns(signedBytes);
  if (runs.length <= 1) return true;
  if (typeof error !== 'object' || !('InstructionError' in error)) return false;
  const [instruction, reason] = error.InstructionError as [unknown, unknown];
  const { Custom: custom } = typeof reason === 'object' && reason !== null ? (reason as Custom) : {};
  const place = typeof custom === 'number' ? splitChargeError(custom).place : undefined;
  return runs.some((run) => run.runId === runId && run.instruction === instruction && run.place === place);
}

interface Custom {
  Custom?: unknown;
}

function toUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
