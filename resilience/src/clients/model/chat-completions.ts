import { randomUUID } from 'node:crypto';
import { asText, type ModelRequest, type Protocol } from './protocol.js';
import type { Turn } from './turns.js';

interface CompletionRequest extends ModelRequest {
  messages?: {
    role: string;
    content?: unknown;
    tool_call_id?: string;
    tool_calls?: { id: string; function: { name: string } }[];
  }[];
}

/** OpenAI's chat completions, which other vendors also offer. */
export const chatCompletions: Protocol<CompletionRequest> = {
  stepsOf({ messages = [] }) {
    const names = new Map(
      messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => [call.id, call.function.name])),
    );
    return messages
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id: id = '', content }) => ({ name: names.get(id) ?? '', output: asText(content) }));
  },
  answer: (turn, name) => ({
    ...head('chat.completion'),
    choices: [{ index: 0, message: message(turn, name), finish_reason: reason(turn) }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
  stream(turn, name) {
    const base = head('chat.completion.chunk');
    const { tool_calls: calls, ...rest } = message(turn, name);
    const delta = { ...rest, ...(calls && { tool_calls: calls.map((call) => ({ index: 0, ...call })) }) };
    const chunks = [
      { ...base, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...base, choices: [{ index: 0, delta: {}, finish_reason: reason(turn) }] },
    ];
    return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
      .map((data) => `data: ${data}\n\n`)
      .join('');
  },
};

function head(object: string): object {
  // A new id each time: some frameworks take two messages with one id for the same message.
  return { id: `chatcmpl-${randomUUID()}`, object, created: 1, model: 'scripted' };
}

const reason = (turn: Turn) => ('call' in turn ? 'tool_calls' : 'stop');

function message(turn: Turn, name: string): { tool_calls?: object[] } {
  if ('text' in turn) return { role: 'assistant', content: turn.text } as object;
  const called = { name, arguments: JSON.stringify(turn.call.args) };
  const call = { id: `call_${randomUUID()}`, type: 'function', function: called };
  return { role: 'assistant', content: null, tool_calls: [call] } as object;
}
