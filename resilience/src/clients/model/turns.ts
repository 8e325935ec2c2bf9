/** The tool call that the model wants. */
export interface Wish {
  /** A tool of the marketplace. A client may add a prefix to the name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A tool call that the client made for the model. */
export interface Step {
  readonly name: string;
  readonly output: string;
}

/** The model's next turn: a call, or its last words. */
export type Turn = { readonly call: Wish } | { readonly text: string };

/** The model gives up after this many steps. */
const MAX_STEPS = 20;
/** The error of a client that checks the arguments itself. */
const REFUSED_ARGUMENTS = /did not match expected schema|validation error/i;
const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

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
  const isOfMarket = last.output.includes('[agent-rental]') || last.output.includes('done with');
  if (steps.length >= MAX_STEPS) return { text: last.output };
  const runId = RUN_ID.exec(last.output)?.[0];
  if (last.output.includes('is still running') && runId !== undefined) {
    return { call: { tool: 'get_run', args: { run_id: runId } } };
  }
  if (isOfMarket) return { text: last.output };
  return { call: REFUSED_ARGUMENTS.test(last.output) ? withoutRefused(wish, last.output) : wish };
}

function withoutRefused({ tool, args }: Wish, error: string): Wish {
  const [, extra] = /(\w+)(?:\s|\\n)+Extra inputs are not permitted/.exec(error) ?? [];
  const kept = Object.entries(args).filter(([name, value]) => value !== null && name !== extra);
  return { tool, args: Object.fromEntries(kept) };
}
