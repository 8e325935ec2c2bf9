import type { VendorError, VendorProtocol, VendorTurn } from './vendor.js';

interface OpenAiMessage {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  429: 'rate_limit_error',
};

/** OpenAI's chat completions, streaming, in the shapes that its API sends. */
export const openAi: VendorProtocol = {
  path: '/v1/chat/completions',
  check(body, headers) {
    if (!headers.get('authorization')?.startsWith('Bearer sk-'))
      return invalid(401, 'Incorrect API key provided.');
    const messages = body['messages'] as OpenAiMessage[];
    const open = new Set<string>();
    for (const message of messages) {
      if (message.role === 'tool') {
        if (!open.delete(message.tool_call_id ?? '')) {
          return invalid(
            400,
            "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          );
        }
        continue;
      }
      if (open.size > 0) {
        return invalid(400, "An assistant message with 'tool_calls' must be followed by tool messages.");
      }
      for (const call of message.tool_calls ?? []) open.add(call.id);
    }
    return undefined;
  },
  read(body) {
    const messages = body['messages'] as OpenAiMessage[];
    const tools = (body['tools'] ?? []) as { function: { name: string } }[];
    const textOf = ({ content }: OpenAiMessage) =>
      typeof content === 'string' ? content : JSON.stringify(content);
    return {
      model: String(body['model']),
      system: messages
        .filter(({ role }) => role === 'system')
        .map(textOf)
        .join(''),
      texts: messages.filter(({ role }) => role !== 'system').map(textOf),
      tools: tools.map((tool) => tool.function.name),
      toolChoice: body['tool_choice'] as string | undefined,
    };
  },
  events(turn, model) {
    const chunks: object[] = [];
    const add = (choices: object[], usage: object | null = null) =>
      chunks.push({
        id: 'chatcmpl-BxR3kq0mT2s',
        object: 'chat.completion.chunk',
        created: 1_752_000_000,
        model,
        service_tier: 'default',
        system_fingerprint: 'fp_51e1070cf2',
        choices,
        usage,
        obfuscation: 'aB3xQ',
      });
    const delta = (fields: object, finish: string | null = null) =>
      add([{ index: 0, delta: fields, logprobs: null, finish_reason: finish }]);
    delta({ role: 'assistant', content: turn.text ? '' : null, refusal: null });
    for (const content of turn.text ?? []) delta({ content });
    for (const [index, call] of (turn.toolCalls ?? []).entries()) {
      const id = `call_${index}Xk29fLqP`;
      delta({ tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] });
      for (const piece of call.arguments) delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    const events = () => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    if (turn.breaks === 'silence') return events();
    if (turn.breaks === 'error') {
      const error = {
        message: 'The server had an error while processing your request.',
        type: 'server_error',
      };
      return [...events(), `data: ${JSON.stringify({ error })}\n\n`];
    }
    delta({}, finishOf(turn));
    add([], {
      prompt_tokens: 40,
      completion_tokens: 12,
      total_tokens: 52,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    });
    return [...events(), 'data: [DONE]\n\n'];
  },
  error: ({ type, message }) => ({ error: { message, type, param: null, code: null } }),
};

function finishOf({ finish, toolCalls }: VendorTurn): string {
  return finish ?? (toolCalls ? 'tool_calls' : 'stop');
}

function invalid(status: number, message: string): VendorError {
  return { status, type: TYPES[status] ?? 'server_error', message };
}
