import { operations, type JsonObject, type Run, type RunningRun } from '@agent-rental/contract';
import { cleanOutput, MARKETPLACE_MARK, outputJson } from '../text/creator-text.js';
import { lamportsText } from '../text/lamports-text.js';
import type { ToolResult } from '../definitions/rented-tool.js';

/** Longest text of a result, in bytes of UTF-8; `get_run` reads on. */
export const RESULT_MAX_BYTES = 40 * 1024;

/** Longest text of a failed run, which is only an explanation. */
const FAILURE_MAX_BYTES = 4 * 1024;

/** A run's output for the model: cleaned text, or JSON. */
export function outputText(output: Run['output']): string {
  return typeof output === 'string' ? cleanOutput(output) : outputJson(output);
}

/** Converts a run, ended or running, to a tool's result. */
export function resultOfState(state: Run | RunningRun): ToolResult {
  return state.status === 'running' ? resultOfRunning(state) : resultOfRun(state);
}

/** Converts a finished run to a tool's result. */
export function resultOfRun(run: Run): ToolResult {
  const facts = {
    runId: run.run_id,
    receiptPath: receiptPath(run.run_id),
    agentId: run.agent_id,
    // An earlier call has paid for a joined run.
    costLamports: run.joined === undefined ? run.cost_lamports : 0,
    durationMs: run.duration_ms,
  };
  const text = outputText(run.output);
  if (run.status === 'failed') return { status: 'failed', text: failureText(run, text), ...facts };
  const structured = isJsonObject(run.output) ? { structured: run.output } : {};
  const end = lengthWithin(text, RESULT_MAX_BYTES);
  const charge = `${MARKETPLACE_MARK} Run ${run.run_id} completed. ${chargeText(run)}`;
  if (end === text.length) {
    const shown = text === '' ? `${MARKETPLACE_MARK} The agent's output is an empty text.` : text;
    return { status: 'completed', text: shown, note: charge, ...structured, ...facts };
  }
  return {
    status: 'completed',
    text: text.slice(0, end),
    note: `${charge} ${continuation(run.run_id, 0, end, text.length)}`,
    ...structured,
    nextOffset: end,
    ...facts,
  };
}

/** Path of a run's receipt in the API. */
export function receiptPath(runId: string): string {
  return operations.getReceipt.path.replace(':run_id', encodeURIComponent(runId));
}

/** Returns the result of a running run, for a call that stops waiting. */
function resultOfRunning({ run_id, agent_id, joined }: RunningRun): ToolResult {
  const started =
    joined === undefined ? '' : `, which an equal call started ${joined.begun_seconds_ago} s ago,`;
  return {
    status: 'running',
    text:
      `${MARKETPLACE_MARK} Run ${run_id}${started} is still running. It goes on and is charged once. Get its result with get_run ` +
      `{"run_id": "${run_id}"}, which waits and is free.`,
    runId: run_id,
    agentId: agent_id,
  };
}

/** Number of a text's UTF-16 units that fit into `maxBytes` of UTF-8, without a cut character. */
export function lengthWithin(text: string, maxBytes: number): number {
  return new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read;
}

/** The note on a part of a long output, with the call for the next part. */
export function continuation(runId: string, start: number, end: number, total: number): string {
  const part = `This is characters ${start} to ${end} of ${total}.`;
  return end < total
    ? `${part} Read on with get_run {"run_id": "${runId}", "offset": ${end}}; that is free.`
    : part;
}

/** The charge of a run in words, and the origin of a joined run. */
export function chargeText(run: Pick<Run, 'cost_lamports' | 'joined'>): string {
  if (run.joined !== undefined) {
    return (
      `An equal call started it ${run.joined.begun_seconds_ago} s ago. Nothing was charged for this call. ` +
      'For another run, call with "new_run": true.'
    );
  }
  return run.cost_lamports > 0 ? `Charged ${lamportsText(run.cost_lamports)}.` : 'Charged nothing.';
}

function failureText(run: Run, words: string): string {
  const again = run.joined === undefined && run.cost_lamports > 0 ? ' Calling again charges again.' : '';
  const said = words.slice(0, lengthWithin(words, FAILURE_MAX_BYTES));
  const head = `${MARKETPLACE_MARK} Run ${run.run_id} failed: the agent could not do the task.`;
  return `${head} ${chargeText(run)}${again} The agent's own words:\n${said === '' ? '(none)' : said}`;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
