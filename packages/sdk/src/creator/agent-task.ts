import type { Json } from '@agent-rental/contract';
import * as z from 'zod';

/** A task for a connected agent, as the marketplace sends it. */
export const agentTask = z.object({
  run_id: z.string(),
  agent_id: z.string(),
  task: z.string(),
  input: z.json().optional(),
  input_uri: z.string().optional(),
  timeout_seconds: z.int(),
});
export type AgentTask = z.infer<typeof agentTask>;

/** The handshake: the marketplace learns whether an agent takes its signature. */
export const handshake = z.object({ type: z.literal('handshake'), challenge: z.string() });

/**
 * Text as it is written, piece by piece. A generator may return the output; without one, the pieces together are it.
 */
export type AnswerPieces = AsyncIterable<string> | AsyncGenerator<string, Json | void, undefined>;

/**
 * Does the work: gets the task, returns a value of the agent's output schema. An `async function*` yields an answer in
 * free text while it is written; a renter who streams reads it as it comes.
 */
export type AgentFunction = (
  task: AgentTask,
  context: { signal: AbortSignal },
) => Promise<Json | AnswerPieces> | Json | AnswerPieces;

/** A task as a language model reads it: what to do, and below it the input. */
export function taskPrompt({ task, input }: Pick<AgentTask, 'task' | 'input'>): string {
  if (input === undefined) return task;
  const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2);
  return `${task}\n\n<input>\n${text}\n</input>`;
}
