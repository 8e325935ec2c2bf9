import type { MessageV0, TransactionError } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';

/** Anchor's `InstructionFallbackNotFound`: the program has no such instruction. */
const NO_SUCH_INSTRUCTION = 101;
/** After this long a program that had no `consume_queries` is asked again: it may have been upgraded. */
const ASKED_AGAIN_AFTER_MS = 600_000;

/**
 * Makes the function that tells whether the deployed program has `consume_queries`, which an earlier version has not. The
 * program is asked once, by a simulation, which costs nothing and needs no signature.
 *
 * @returns false also while the chain cannot be asked.
 */
export function createBatchSupport(
  chain: Pick<Chain, 'simulate'>,
  now: () => number = performance.now.bind(performance),
): (probe: () => MessageV0) => Promise<boolean> {
  let answer: { has: boolean; until: number } | undefined;
  let asking: Promise<boolean> | undefined;

  async function ask(probe: () => MessageV0): Promise<boolean> {
    const { error } = await chain.simulate(probe());
    const custom = customCode(error);
    // A failure outside the program tells nothing. A refusal by the program shows that it knows the instruction.
    if (error !== null && custom === undefined) return false;
    const has = custom !== NO_SUCH_INSTRUCTION;
    answer = { has, until: has ? Number.POSITIVE_INFINITY : now() + ASKED_AGAIN_AFTER_MS };
    return has;
  }

  return async (probe) => {
    if (answer && now() < answer.until) return answer.has;
    asking ??= ask(probe)
      .catch(() => false)
      .finally(() => (asking = undefined));
    return asking;
  };
}

function customCode(error: TransactionError | null): number | undefined {
  if (typeof error !== 'object' || error === null || !('InstructionError' in error)) return undefined;
  const [, reason] = error.InstructionError as [unknown, unknown];
  const code =
    typeof reason === 'object' && reason !== null && 'Custom' in reason ? reason.Custom : undefined;
  return typeof code === 'number' ? code : undefined;
}
