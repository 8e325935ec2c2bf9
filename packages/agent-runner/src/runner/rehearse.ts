import { type HostReply, PROTOCOL_VERSION, type RunMessage } from '../protocol.js';
import { readLines } from '../stdio.js';
import { serveRun } from './serve-run.js';

const RUN: RunMessage = {
  type: 'run',
  protocol: PROTOCOL_VERSION,
  run: {
    runId: 'rehearsal',
    task: 'Say it.',
    input: { text: 'x' },
    tools: [{ name: 'read_input', scope: 'input_only' }],
    outputSchema: { type: 'string' },
    maxSteps: 2,
  },
};

const REPLIES: readonly HostReply[] = [
  {
    id: 1,
    result: {
      content: null,
      toolCalls: [{ id: 'call', name: 'read_input', arguments: '{}' }],
      finishReason: 'tool_calls',
    },
  },
  { id: 2, result: { content: 'It.', toolCalls: [], finishReason: 'stop' } },
  { id: 3, result: { valid: true, errors: [] } },
];

/**
 * Works on a run of its own, from the bytes that would come to the line that would leave: the engine compiles a function
 * when it is first called, and none of that is left for the run of a renter. Nothing is read or written.
 * @returns the lines that would have left.
 */
export async function rehearse(): Promise<string[]> {
  const encoder = new TextEncoder();
  const bytes = [RUN, ...REPLIES].map((message) => encoder.encode(`${JSON.stringify(message)}\n`));
  const lines: string[] = [];
  const write = async (line: string): Promise<void> => {
    lines.push(line);
  };
  await serveRun(readLines({ read: async () => bytes.shift() ?? null }), write);
  return lines;
}
