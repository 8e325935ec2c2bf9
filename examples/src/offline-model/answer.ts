import { createHash } from 'node:crypto';
import type { ChatMessage, ChatRequest } from './request.js';

/** Name under which the offline model is asked for. */
export const OFFLINE_MODEL_ID = 'offline-example-model';

const PROGRAM_TOOL = 'run_javascript';

/** An answer of the offline model: text, or one call of a function. */
export type Answer =
  | { kind: 'text'; text: string }
  | { kind: 'call'; id: string; name: string; arguments: string };

const NOT_A_MODEL =
  'This is offline-example-model, an offline stand-in and not a language model: it only hands on the program ' +
  "in an example agent's prompt. For a real model set OPENAI_API_KEY, ANTHROPIC_API_KEY, or MODEL_BASE_URL " +
  'and MODEL_NAME, and start again.';

/**
 * Decides the answer by three rules, in this order. The same request always gets the same answer.
 *
 * 1. If a tool has answered, repeat its answer.
 * 2. If the system prompt has a program and `run_javascript` is offered, call it.
 * 3. Otherwise introduce the offline model.
 */
export function answerTo(request: ChatRequest): Answer {
  const lastTool = request.messages.findLastIndex((message) => message.role === 'tool');
  const lastUser = request.messages.findLastIndex((message) => message.role === 'user');
  const result = request.messages[lastTool];
  if (result !== undefined && lastTool > lastUser) return { kind: 'text', text: result.text };

  const program = programIn(request.messages);
  if (program === undefined) return { kind: 'text', text: NOT_A_MODEL };
  if (!request.tools.includes(PROGRAM_TOOL)) {
    return { kind: 'text', text: `${NOT_A_MODEL} (The prompt has a program, but no tool ${PROGRAM_TOOL}.)` };
  }
  const digest = createHash('sha256').update(`${request.messages.length}\n${program}`).digest('hex');
  return {
    kind: 'call',
    id: `call_${digest.slice(0, 24)}`,
    name: PROGRAM_TOOL,
    arguments: JSON.stringify({ code: program, final: true }),
  };
}

/** Tokens of a text, by the rule of thumb of four characters each: there is no tokenizer here. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The first fenced `js` block of the system prompt. A renter's message is never looked at for one. */
function programIn(messages: ChatMessage[]): string | undefined {
  const prompt = messages
    .filter((message) => message.role === 'system' || message.role === 'developer')
    .map((message) => message.text)
    .join('\n');
  const lines = prompt.split('\n');
  const start = lines.findIndex((line) => /^```(?:js|javascript)\s*$/.test(line));
  if (start < 0) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => line.trimEnd() === '```');
  return length < 0 ? undefined : lines.slice(start + 1, start + 1 + length).join('\n');
}
