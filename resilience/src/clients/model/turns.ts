import { pollOf, type ToolCall } from '../../run-answers.js';

/** The tool call that the model wants. A client may add a prefix to the tool's name. */
export type Wish = ToolCall;

/** A tool call that the client made for the model. */
export interface Step {
  readonly name: string;
  readonly output: string;
}

/** The model's next turn: a call, or its last words. */
export type Turn = { readonly call: Wish } | { readonly text: string };

const MAX_STEPS = 20;
/** The error of a client that checks the arguments itself. */
const REFUSED_ARGUMENTS = /did not match expected schema|validation error/i;

/**
 * The model's next turn:
 * - First it calls the tool.
 * - When the run is still running, it asks for the result.
 * - When the client timed out, it calls again.
 * - When the client refused the arguments, it calls again without nulls and without the extra argument.
 * - Otherwise it ends with the tool's output.
 */
export function nextTurn(wish: Wish, steps: readonly Step[]): Turn {
  const last = steps.at(-1);
  if (last === undefined) return { call: wish };
  const { output } = last;
  if (steps.length >= MAX_STEPS) return { text: output };
  const poll = pollOf(output);
  if (poll !== undefined) return { call: poll };
  if (output.includes('[agent-rental]') || output.includes('done with')) return { text: output };
  return { call: REFUSED_ARGUMENTS.test(output) ? withoutRefused(wish, output) : wish };
}

function withoutRefused({ tool, args }: Wish, error: string): Wish {
  const [, extra] = /(\w+)(?:\s|\\n)+Extra inputs are not permitted/.exec(error) ?? [];
  const kept = Object.entries(args).filter(([name, value]) => value !== null && name !== extra);
  return { tool, args: Object.fromEntries(kept) };
}
