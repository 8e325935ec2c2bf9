import { isDeepStrictEqual } from 'node:util';

export const ECHO_MARK = 'echo_of';

export interface Case {
  readonly agentId: string;
  readonly tool: string;
  readonly value: unknown;
}

/** A case with a task that identifies its call. */
export interface Call extends Case {
  readonly task: string;
}

interface Miss {
  readonly tool: string;
  readonly value: unknown;
  /** The agent's input for a changed call, or the client's text for a refused call. */
  readonly got: unknown;
}

export type ClientVerdict = { readonly client: string } & ReturnType<typeof judgeCalls>;

const MAX_SAID = 400;

/**
 * Compares the sent values with the agents' inputs.
 *
 * @param arrived the agents' inputs, by task
 * @param said the client's texts, by index of the call
 */
export function judgeCalls(
  calls: readonly Call[],
  arrived: ReadonlyMap<string, unknown>,
  said: ReadonlyMap<number, string>,
) {
  /** Calls that did not reach the agent, or had no answer of the agent. */
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
