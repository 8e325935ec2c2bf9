import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatCompletions } from './chat-completions.js';
import { messages } from './messages.js';
import type { ModelRequest, Protocol } from './protocol.js';
import { responses } from './responses.js';
import { nextTurn, type Step, type Turn, type Wish } from './turns.js';

/** By the end of a request's path. */
const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  '/chat/completions': chatCompletions,
  '/responses': responses,
  '/messages': messages,
};

/** By which a client that holds its tools back lets a model ask for them. */
const TOOL_SEARCH = 'ToolSearch';

/** A model server on loopback that follows a wish. */
export interface ScriptedModel {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  /** The steps that were taken, in order. */
  readonly steps: readonly Step[];
  close(): Promise<void>;
}

/** Starts a server that speaks the two APIs of OpenAI, chat completions and responses, and the one of Anthropic. */
export async function startScriptedModel(wish: Wish): Promise<ScriptedModel> {
  let steps: readonly Step[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      const protocol = Object.entries(PROTOCOLS).find(([end]) => pathname.endsWith(end))?.[1];
      if (protocol === undefined) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
        return;
      }
      const asked = JSON.parse(body) as ModelRequest;
      const tools = (asked.tools ?? []).map((tool) => tool.name ?? tool.function?.name ?? '');
      let turn: Turn = { text: 'A title' };
      let name = '';
      // A client that names its conversation offers no tools.
      if (tools.length > 0) {
        steps = protocol.stepsOf(asked).filter(({ name: tool }) => tool !== TOOL_SEARCH);
        turn = nextTurn(wish, steps);
        if ('call' in turn) ({ turn, name } = named(turn.call, tools, body));
      }
      if (asked.stream === true && protocol.stream !== undefined) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(protocol.stream(turn, name));
        return;
      }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(protocol.answer(turn, name)));
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

/** A call by the name that the client has for the tool; first the search for it, where the client holds it back. */
function named(call: Wish, tools: readonly string[], body: string): { turn: Turn; name: string } {
  const offered = tools.find((tool) => tool.endsWith(call.tool));
  const heldBack = body.match(/mcp__\w+/g)?.find((tool) => tool.endsWith(`__${call.tool}`));
  const query = `select:${heldBack}`;
  if (offered !== undefined || heldBack === undefined || body.includes(query)) {
    return { turn: { call }, name: offered ?? heldBack ?? call.tool };
  }
  return { turn: { call: { tool: TOOL_SEARCH, args: { query } } }, name: TOOL_SEARCH };
}
