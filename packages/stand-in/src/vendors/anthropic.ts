import type { VendorError, VendorProtocol, VendorTurn } from './vendor.js';

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; content: unknown };
interface AnthropicMessage {
  role: 'user' | 'assistant';
  content: string | Block[];
}

const STOP_REASONS = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
} as const;

const blocksOf = ({ content }: AnthropicMessage): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** Anthropic's messages, streaming, in the shapes that its API sends. */
export const anthropic: VendorProtocol = {
  path: '/v1/messages',
  check(body, headers) {
    if (!headers.get('x-api-key')?.startsWith('sk-')) {
      return { status: 401, type: 'authentication_error', message: 'invalid x-api-key' };
    }
    if (headers.get('anthropic-version') === null) return invalid('anthropic-version: header is required');
    if (typeof body['max_tokens'] !== 'number') return invalid('max_tokens: Field required');
    let open: string[] = [];
    for (const message of body['messages'] as AnthropicMessage[]) {
      const blocks = blocksOf(message);
      const answered = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
      if (open.some((id) => !answered.includes(id))) {
        return invalid('messages: `tool_use` ids were found without `tool_result` blocks immediately after.');
      }
      if (answered.some((id) => !open.includes(id))) {
        return invalid('messages: unexpected `tool_use_id` found in `tool_result` blocks.');
      }
      if (blocks.length === 0) return invalid('messages: all messages must have non-empty content');
      if (blocks.some((block) => block.type === 'text' && block.text.trim() === '')) {
        return invalid('messages: text content blocks must contain non-whitespace text');
      }
      open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
      if (open.length > 0 && body['tools'] === undefined) {
        return invalid('Requests which include `tool_use` or `tool_result` blocks must define tools');
      }
    }
    return undefined;
  },
  read(body) {
    const messages = body['messages'] as AnthropicMessage[];
    const system = (body['system'] ?? []) as { text: string }[];
    const tools = (body['tools'] ?? []) as { name: string }[];
    const choice = body['tool_choice'] as { type: string } | undefined;
    return {
      model: String(body['model']),
      system: system.map(({ text }) => text).join(''),
      texts: messages.map((message) =>
        blocksOf(message)
          .map((block) => (block.type === 'text' ? block.text : JSON.stringify(block)))
          .join(''),
      ),
      tools: tools.map(({ name }) => name),
      toolChoice: choice?.type,
    };
  },
  events(turn, model) {
    const events: string[] = [];
    const add = (type: string, fields: object) =>
      events.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    let index = 0;
    const block = (start: object, deltas: object[]) => {
      add('content_block_start', { index, content_block: start });
      if (index === 0) add('ping', {});
      for (const delta of deltas) add('content_block_delta', { index, delta });
      add('content_block_stop', { index });
      index += 1;
    };
    add('message_start', {
      message: {
        id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: 40,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 1,
          service_tier: 'standard',
        },
      },
    });
    if (turn.text)
      block(
        { type: 'text', text: '' },
        turn.text.map((text) => ({ type: 'text_delta', text })),
      );
    for (const [at, call] of (turn.toolCalls ?? []).entries()) {
      const pieces = ['', ...call.arguments];
      block(
        { type: 'tool_use', id: `toolu_01T1x1fJ34qAmk2tNTr${at}`, name: call.name, input: {} },
        pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      );
    }
    if (turn.breaks === 'silence') return events;
    if (turn.breaks === 'error') {
      add('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
      return events;
    }
    add('message_delta', {
      delta: { stop_reason: STOP_REASONS[finishOf(turn)], stop_sequence: null },
      usage: { output_tokens: 12 },
    });
    add('message_stop', {});
    return events;
  },
  error: ({ type, message }) => ({
    type: 'error',
    error: { type, message },
    request_id: 'req_011CSHoEeqs5C35',
  }),
};

function finishOf({ finish, toolCalls }: VendorTurn): keyof typeof STOP_REASONS {
  return finish ?? (toolCalls ? 'tool_calls' : 'stop');
}

function invalid(message: string): VendorError {
  return { status: 400, type: 'invalid_request_error', message };
}
