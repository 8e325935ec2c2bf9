import { listenNode } from '@agent-rental/stand-in';
import { chatCompletions } from './chat-completions.js';
import { messages } from './messages.js';
import type { ModelRequest, Protocol } from './protocol.js';
import { responses } from './responses.js';
import { nextTurn, type Step, type Turn, type Wish } from './turns.js';

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  '/chat/completions': chatCompletions,
  '/responses': responses,
  '/messages': messages,
};

/** The tool with which a model asks its client for hidden tools. */
const TOOL_SEARCH = 'ToolSearch';

/** Starts a model server that follows a wish, with OpenAI's two APIs (chat completions and responses) and Anthropic's. */
export async function startScriptedModel(wish: Wish) {
  let steps: readonly Step[] = [];
  const { baseUrl, close } = await listenNode(async (request) => {
    const { pathname } = new URL(request.url);
    const protocol = Object.entries(PROTOCOLS).find(([end]) => pathname.endsWith(end))?.[1];
    if (protocol === undefined) return Response.json({}, { status: 404 });
    const body = await request.text();
    const asked = JSON.parse(body) as ModelRequest;
    const tools = (asked.tools ?? []).map((tool) => tool.name ?? tool.function?.name ?? '');
    let turn: Turn = { text: 'A title' };
    let name = '';
    // A client offers no tools when it asks for the conversation's title.
    if (tools.length > 0) {
      steps = protocol.stepsOf(asked).filter(({ name: tool }) => tool !== TOOL_SEARCH);
      turn = nextTurn(wish, steps);
      if ('call' in turn) ({ turn, name } = named(turn.call, tools, body));
    }
    if (asked.stream !== true || protocol.stream === undefined)
      return Response.json(protocol.answer(turn, name));
    return new Response(protocol.stream(turn, name), { headers: { 'content-type': 'text/event-stream' } });
  });
  return {
    baseUrl: `${baseUrl}/v1`,
    /** The client's steps, in order. */
    get steps() {
      return steps;
    },
    close,
  };
}

/** A call by the client's name of the tool. A search comes first when the client hides the tool. */
function named(call: Wish, tools: readonly string[], body: string): { turn: Turn; name: string } {
  const offered = tools.find((tool) => tool.endsWith(call.tool));
  const heldBack = body.match(/mcp__\w+/g)?.find((tool) => tool.endsWith(`__${call.tool}`));
  const query = `select:${heldBack}`;
  if (offered !== undefined || heldBack === undefined || body.includes(query)) {
    return { turn: { call }, name: offered ?? heldBack ?? call.tool };
  }
  return { turn: { call: { tool: TOOL_SEARCH, args: { query } } }, name: TOOL_SEARCH };
}
