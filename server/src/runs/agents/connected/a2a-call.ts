import { setTimeout as sleep } from 'node:timers/promises';
import { createDeadline, JSON_BOUNDS } from '@agent-rental/contract';
import { readStrangersJson } from '../../../platform/json/json-gate.js';
import { readText, type OutboundHttp } from '../../../platform/outbound-http.js';
import { isEventStream, readEvents, withRules, type ConnectedAnswer } from './connected-answer.js';
import type { AgentCall, ConnectedWork } from './agent-call.js';
import type { A2aVersion, MessagePart } from './a2a-version.js';
import type { A2aEndpoint } from './agent-card.js';
import { TaskOutput } from './task-output.js';

/** How often an agent is asked that answered before its task ended. */
const POLL_MS = 1_000;
/** How long a cancel may take, after the run has ended. */
const CANCEL_MS = 5_000;

/** The call of a task to an A2A agent. Where the caller aborts, the agent's task is cancelled. */
export function a2aCall(
  outbound: Pick<OutboundHttp, 'fetch'>,
  { url, version, streams }: A2aEndpoint,
  task: ConnectedWork,
): AgentCall {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: task.runId,
    method: version.method(streams ? 'SendStreamingMessage' : 'SendMessage'),
    params: version.message(task.runId, partsOf(task)),
  });
  const send = (method: string, id: string, signal: AbortSignal) =>
    outbound.fetch(url, {
      method: 'POST',
      headers: { ...version.headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: task.runId,
        method: version.method(method),
        params: { id },
      }),
      signal,
    });
  return {
    url,
    body,
    headers: version.headers,
    async read(response, outputSchema, onText, signal) {
      const output = new TaskOutput(outputSchema, onText);
      try {
        let answer = await readResponse(response, version, output);
        while (answer === undefined) {
          if (output.taskId === undefined) return 'stream_event';
          await sleep(POLL_MS, undefined, { signal });
          answer = await readResponse(await send('GetTask', output.taskId, signal), version, output);
        }
        return answer;
      } catch (error) {
        if (signal.aborted && output.taskId !== undefined) void cancel(output.taskId);
        throw error;
      }
    },
  };

  /** Nothing depends on its answer. */
  async function cancel(id: string): Promise<void> {
    const deadline = createDeadline(CANCEL_MS);
    try {
      await (await send('CancelTask', id, deadline.signal)).body?.cancel();
    } catch {
      // The agent ends by itself.
    } finally {
      deadline.clear();
    }
  }
}

/** Takes all of a response. @returns the end of the task; undefined where it goes on. */
async function readResponse(
  response: Response,
  version: A2aVersion,
  output: TaskOutput,
): Promise<ConnectedAnswer | undefined> {
  if (isEventStream(response)) {
    return readEvents(response, ({ data }, readEvent) => output.take(version.read(readEvent(data))));
  }
  const text = await readText(response, JSON_BOUNDS.bytes);
  return withRules(async () => output.take(version.read(await readStrangersJson('endpoint_answer', text))));
}

function partsOf({ task, input }: ConnectedWork): MessagePart[] {
  if (input === undefined) return [{ text: task }];
  return [{ text: task }, typeof input === 'string' ? { text: input } : { data: input }];
}
