import { randomUUID } from 'node:crypto';
import { asText, type ModelRequest, type Protocol } from './protocol.js';
import type { Turn } from './turns.js';

interface Block {
  type: string;
  id?: string;
  name?: string;
  tool_use_id?: string;
  content?: unknown;
}

interface MessagesRequest extends ModelRequest {
  messages?: { content: string | Block[] }[];
}

export const messages: Protocol<MessagesRequest> = {
  stepsOf({ messages: said = [] }) {
    const blocks = said.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const names = new Map(blocks.map(({ id, name }) => [id, name]));
    return blocks
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id: id, content }) => ({ name: names.get(id) ?? '', output: asText(content) }));
  },
  answer: (turn, name) => ({ ...head(turn), content: [block(turn, name)] }),
  stream(turn, name) {
    const [empty, delta] =
      'call' in turn
        ? [{ input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(turn.call.args) }]
        : [{ text: '' }, { type: 'text_delta', text: turn.text }];
    const { stop_reason, ...start } = head(turn);
    const events = [
      { type: 'message_start', message: { ...start, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { ...block(turn, name), ...empty } },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  },
};

function head(turn: Turn): { stop_reason: string } {
  return {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    stop_reason: 'call' in turn ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  } as { stop_reason: string };
}

function block(turn: Turn, name: string): object {
  if ('text' in turn) return { type: 'text', text: turn.text };
  return { type: 'tool_use', id: `toolu_${randomUUID()}`, name, input: turn.call.args };
}
