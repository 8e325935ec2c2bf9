import { isDeepStrictEqual } from 'node:util';

/** What the output of an echo holds. */
export const ECHO_MARK = 'echo_of';

/** A value to be sent as a listing's input. */
export interface Case {
  readonly agentId: string;
  readonly tool: string;
  readonly value: unknown;
}

/** A case with the task by which its call is known. */
export interface Call extends Case {
  readonly task: string;
}

/** A call that did not do what it should. */
interface Miss {
  readonly tool: string;
  readonly value: unknown;
  /** What the agent got in its place, or what was said in place of the agent's answer. */
  readonly got: unknown;
}

/** What came of the calls of one client. */
export interface ClientVerdict {
  readonly client: string;
  readonly calls: number;
  /** Those that did not reach the agent, or whose answer did not reach the caller. */
  readonly refused: readonly Miss[];
  /** Those whose input the agent got otherwise. */
  readonly changed: readonly Miss[];
}

const MAX_SAID = 400;

/**
 * Compares what was sent with what came.
 *
 * @param arrived inputs that the agents got, by their tasks.
 * @param said what the caller was told, by the calls' order.
 */
export function judgeCalls(
  calls: readonly Call[],
  arrived: ReadonlyMap<string, unknown>,
  said: ReadonlyMap<number, string>,
): Omit<ClientVerdict, 'client'> {
  const refused: Miss[] = [];
  const changed: Miss[] = [];
  for (const [index, { tool, task, value }] of calls.entries()) {
    const told = said.get(index) ?? 'The client said nothing.';
    const got = arrived.get(task);
    if (!arrived.has(task) || !told.includes(ECHO_MARK)) {
      refused.push({ tool, value, got: told.slice(0, MAX_SAID) });
    } else if (!isDeepStrictEqual(got, value)) {
      changed.push({ tool, value, got });
    }
  }
  return { calls: calls.length, refused, changed };
}
