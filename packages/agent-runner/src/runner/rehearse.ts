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
 * Plays a whole run in memory, from its first input bytes to its last output line. The engine compiles a function at its
 * first call, so the run of a renter finds all functions compiled. Nothing is read or written.
 * @returns the output lines.
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
