import { decodeInstruction } from '@agent-rental/program-client';
import { VersionedTransaction, type TransactionError } from '@solana/web3.js';

/**
 * The runs that a transaction of charges charges, each at the place of its instruction; undefined at those of other
 * instructions. Empty for bytes that are no transaction.
 *
 * @param wire bytes that this service signed; of others the caller checks whose program the instructions are for.
 */
export function chargedRuns(wire: Uint8Array): (string | undefined)[] {
  let message;
  try {
    ({ message } = VersionedTransaction.deserialize(wire));
  } catch {
    return [];
  }
  return message.compiledInstructions.map(({ data, accountKeyIndexes }) => {
    const accounts = accountKeyIndexes.map((index) => message.staticAccountKeys[index]);
    const instruction = decodeInstruction(
      data,
      accounts.filter((account) => account !== undefined),
    );
    const runId = instruction?.name === 'consume_query' ? instruction.args['runId'] : undefined;
    return runId instanceof Uint8Array ? toUuid(runId) : undefined;
  });
}

/**
 * Whether the failure of a transaction is the refusal of this run's charge. A transaction of several charges fails as a
 * whole at the first that the program refuses: it says nothing about the others.
 */
export function isRefusalOf(runId: string, wire: Uint8Array, error: TransactionError): boolean {
  const runs = chargedRuns(wire);
  if (runs.filter((run) => run !== undefined).length <= 1) return true;
  const place =
    typeof error === 'object' && 'InstructionError' in error
      ? (error.InstructionError as unknown[])[0]
      : undefined;
  return typeof place === 'number' && runs[place] === runId;
}

function toUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
