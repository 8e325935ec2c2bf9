import { jsonValue, type Json } from '@agent-rental/contract';
import * as z from 'zod';

/** The marketplace's task for a connected agent. */
export const agentTask = z.object({
  run_id: z.string(),
  agent_id: z.string(),
  task: z.string(),
  input: jsonValue.optional(),
  input_uri: z.string().optional(),
  timeout_seconds: z.int(),
});
export type AgentTask = z.infer<typeof agentTask>;

/** The handshake, by which the marketplace tests whether an agent accepts its signature. */
export const handshake = z.object({ type: z.literal('handshake'), challenge: z.string() });

/**
 * Text in pieces, while the agent writes it. A generator may return the output; else all pieces together are the output.
 */
export type AnswerPieces = AsyncIterable<string> | AsyncGenerator<string, Json | void, undefined>;

/**
 * Does the work: gets the task, and returns a value of the agent's output schema. An `async function*` yields a free-text
 * answer in pieces, which renters can stream.
 */
export type AgentFunction = (
  task: AgentTask,
  context: { signal: AbortSignal },
) => Promise<Json | AnswerPieces> | Json | AnswerPieces;

/** The prompt of a task for a language model: the task, then the input. */
export function taskPrompt({ task, input }: Pick<AgentTask, 'task' | 'input'>): string {
  if (input === undefined) return task;
  const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2);
  return `${task}\n\n<input>\n${text}\n</input>`;
}
