/** What the model wants done. */
export interface Wish {
  /** A tool of the marketplace; a client may put its own words before the name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A step that the client has taken for the model. */
export interface Step {
  readonly name: string;
  readonly output: string;
}

/** The model's next turn: a call, or its last words. */
export type Turn = { readonly call: Wish } | { readonly text: string };

/** After so many tries a model gives up, as a person would. */
const MAX_STEPS = 20;
/** What a client says that has checked the arguments itself. */
const REFUSED_ARGUMENTS = /did not match expected schema|validation error/i;
const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/**
 * What a model does: it calls the tool; told that the run goes on, it asks for the result; told nothing of the run, because
 * its client gave up, it calls again, without nulls and what is said to be extra where the client refused the arguments; and it
 * ends with what it was given.
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
