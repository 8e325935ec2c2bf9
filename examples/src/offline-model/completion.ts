import { createHash } from 'node:crypto';
import { estimateTokens, OFFLINE_MODEL_ID, type Answer } from './answer.js';
import type { ChatRequest } from './request.js';

/** Characters of text or arguments in one streamed chunk. */
const CHUNK_CHARACTERS = 1_000;

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** Writes an answer as the body of a `chat.completion`. */
export function completionBody(request: ChatRequest, answer: Answer): object {
  const message =
    answer.kind === 'text'
      ? { role: 'assistant', content: answer.text, refusal: null }
      : { role: 'assistant', content: null, refusal: null, tool_calls: [toolCall(answer, answer.arguments)] };
  const choices = Array.from({ length: request.choices }, (_, index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: finishReason(answer),
  }));
  return { ...header(request, 'chat.completion'), choices, usage: usageOf(request, answer) };
}

/** Writes an answer as the `data` of server-sent events, `[DONE]` being the last. */
export function* completionChunks(request: ChatRequest, answer: Answer): Generator<string, void, undefined> {
  const common = header(request, 'chat.completion.chunk');
  const usage = request.includeUsage ? { usage: null } : {};
  const chunk = (index: number, delta: object, finish: string | null = null) =>
    JSON.stringify({
      ...common,
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...usage,
    });
  for (let index = 0; index < request.choices; index += 1) {
    if (answer.kind === 'text') {
      yield chunk(index, { role: 'assistant', content: '' });
      for (const piece of pieces(answer.text)) yield chunk(index, { content: piece });
    } else {
      yield chunk(index, {
        role: 'assistant',
        content: null,
        tool_calls: [{ index: 0, ...toolCall(answer, '') }],
      });
      for (const piece of pieces(answer.arguments)) {
        yield chunk(index, { tool_calls: [{ index: 0, function: { arguments: piece } }] });
      }
    }
    yield chunk(index, {}, finishReason(answer));
  }
  if (request.includeUsage) {
    yield JSON.stringify({ ...common, choices: [], usage: usageOf(request, answer) });
  }
  yield '[DONE]';
}

/** `created` is 0 and the id comes from the request: the same request gets the same bytes. */
function header(request: ChatRequest, object: string): object {
  const digest = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  return { id: `chatcmpl-${digest.slice(0, 24)}`, object, created: 0, model: OFFLINE_MODEL_ID };
}

function toolCall(answer: Extract<Answer, { kind: 'call' }>, written: string): object {
  return { id: answer.id, type: 'function', function: { name: answer.name, arguments: written } };
}

function finishReason(answer: Answer): string {
  return answer.kind === 'call' ? 'tool_calls' : 'stop';
}

function usageOf(request: ChatRequest, answer: Answer): Usage {
  const prompt = request.messages.reduce((sum, message) => sum + estimateTokens(message.text), 0);
  const completion =
    estimateTokens(answer.kind === 'text' ? answer.text : answer.arguments) * request.choices;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function* pieces(text: string): Generator<string, void, undefined> {
  // By code points, so that no chunk ends in half a character.
  let piece = '';
  for (const character of text) {
    piece += character;
    if (piece.length >= CHUNK_CHARACTERS) {
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}
