import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the model wants done. */
export interface Wish {
  /** A tool of the marketplace; a client may put its own words before the name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A step that the client has taken for the model. */
interface Step {
  readonly name: string;
  readonly output: string;
}

/** The model's next turn: a call, or its last words. */
type Turn = { readonly call: Wish } | { readonly text: string };

/** After so many tries a model gives up, as a person would. */
const MAX_STEPS = 20;
/** What a client says that has checked the arguments itself. */
const REFUSED_ARGUMENTS = /did not match expected schema|validation error/i;
const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/**
 * What a model does: it calls the tool; told that the run goes on, it asks for the result; told nothing of the run, because
 * its client gave up, it calls again, without nulls where the client refused the arguments; and it ends with what it was given.
 */
export function nextTurn(wish: Wish, steps: readonly Step[]): Turn {
  const last = steps.at(-1);
  if (last === undefined) return { call: wish };
  const isOfMarket = last.output.includes('[agent-rental]') || last.output.includes('done with');
  if (steps.length >= MAX_STEPS) return { text: last.output };
  const runId = RUN_ID.exec(last.output)?.[0];
  if (last.output.includes('is still running') && runId !== undefined) {
    return { call: { tool: 'get_run', args: { run_id: runId } } };
  }
  if (isOfMarket) return { text: last.output };
  return { call: REFUSED_ARGUMENTS.test(last.output) ? withoutNulls(wish) : wish };
}

function withoutNulls({ tool, args }: Wish): Wish {
  return { tool, args: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) };
}

/** A model server on loopback that follows a wish. */
export interface ScriptedModel {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  /** The steps that were taken, in order. */
  readonly steps: readonly Step[];
  close(): Promise<void>;
}

interface ModelRequest {
  messages?: {
    role: string;
    content?: unknown;
    tool_call_id?: string;
    tool_calls?: { id: string; function: { name: string } }[];
  }[];
  input?: { type?: string; name?: string; call_id?: string; output?: unknown }[] | string;
  tools?: { name?: string; function?: { name: string } }[];
}

/** Starts a server that speaks the two APIs of OpenAI: chat completions and responses. */
export async function startScriptedModel(wish: Wish): Promise<ScriptedModel> {
  let steps: readonly Step[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const asked = JSON.parse(body) as ModelRequest;
      steps = stepsOf(asked);
      const turn = nextTurn(wish, steps);
      const tools = (asked.tools ?? []).map((tool) => tool.name ?? tool.function?.name ?? '');
      const name =
        'call' in turn ? (tools.find((tool) => tool.endsWith(turn.call.tool)) ?? turn.call.tool) : '';
      const isChat = request.url?.includes('chat/completions') === true;
      answer(response, isChat ? asCompletion(turn, name) : asResponse(turn, name));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get steps() {
      return steps;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function stepsOf({ messages, input }: ModelRequest): Step[] {
  const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  if (messages !== undefined) {
    const names = new Map(
      messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => [call.id, call.function.name])),
    );
    return messages
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id: id = '', content }) => ({ name: names.get(id) ?? '', output: asText(content) }));
  }
  const items = Array.isArray(input) ? input : [];
  const names = new Map(items.map(({ call_id: id, name }) => [id, name]));
  return items
    .filter(({ type }) => type === 'function_call_output')
    .map(({ call_id: id, output }) => ({ name: names.get(id) ?? '', output: asText(output) }));
}

function asCompletion(turn: Turn, name: string): object {
  const message =
    'call' in turn
      ? {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: `call_${randomUUID()}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(turn.call.args) },
            },
          ],
        }
      : { role: 'assistant', content: turn.text };
  return {
    // Some frameworks take a message of a known id for the same message.
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: 'call' in turn ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function asResponse(turn: Turn, name: string): object {
  const id = randomUUID();
  const item =
    'call' in turn
      ? {
          type: 'function_call',
          id: `fc_${id}`,
          call_id: `call_${id}`,
          name,
          arguments: JSON.stringify(turn.call.args),
          status: 'completed',
        }
      : {
          type: 'message',
          id: `msg_${id}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: turn.text, annotations: [] }],
        };
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'scripted',
    output: [item],
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
}

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
