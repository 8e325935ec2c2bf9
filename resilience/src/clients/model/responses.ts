import { randomUUID } from 'node:crypto';
import { asText, type ModelRequest, type Protocol } from './protocol.js';

interface ResponseRequest extends ModelRequest {
  input?: { type?: string; name?: string; call_id?: string; output?: unknown }[] | string;
}

export const responses: Protocol<ResponseRequest> = {
  stepsOf({ input }) {
    const items = Array.isArray(input) ? input : [];
    const names = new Map(items.map(({ call_id: id, name }) => [id, name]));
    return items
      .filter(({ type }) => type === 'function_call_output')
      .map(({ call_id: id, output }) => ({ name: names.get(id) ?? '', output: asText(output) }));
  },
  answer(turn, name) {
    const id = randomUUID();
    const status = 'completed';
    const callOf = (args: object) => {
      const call = { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name };
      return { ...call, arguments: JSON.stringify(args) };
    };
    const messageOf = (text: string) => {
      const content = [{ type: 'output_text', text, annotations: [] }];
      return { type: 'message', id: `msg_${id}`, role: 'assistant', content };
    };
    const item = 'call' in turn ? callOf(turn.call.args) : messageOf(turn.text);
    return {
      id: `resp_${id}`,
      object: 'response',
      created_at: 1,
      status,
      model: 'scripted',
      output: [{ ...item, status }],
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 2,
      },
    };
  },
};
