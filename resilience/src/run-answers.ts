const RUN_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** Reads the JSON of an answer, or of a stream's last event; undefined for a stream without it. */
export function jsonOf(text: string): unknown {
  const json = text.startsWith('{') ? text : /event: done\ndata: (.*)\n/.exec(text)?.[1];
  return json === undefined ? undefined : JSON.parse(json);
}

export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The call that asks for the result, if the text says that a run is still running. */
export function pollOf(told: string | undefined): ToolCall | undefined {
  const runId = told?.includes('is still running') === true ? RUN_ID.exec(told)?.[0] : undefined;
  return runId === undefined ? undefined : { tool: 'get_run', args: { run_id: runId } };
}
