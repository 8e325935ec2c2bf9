/** One tool call in each framework by an offline model, and the result that the model gets. */
import { rentedTools as aiTools } from '@agent-rental/ai-sdk';
import { rentedTools as langchainTools } from '@agent-rental/langchain';
import { createRentalMcpHandler } from '@agent-rental/mcp-server';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { STAND_IN_API_KEY } from '@agent-rental/stand-in';
import { loadAiSdk7 } from '@agent-rental/stand-in/ai-sdk-7';
import { IS_QUICK } from '@agent-rental/test/support/form';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import * as ai6 from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { createAgent, fakeModel } from 'langchain';

/** The result of a tool call, as the model gets it. */
export interface SeenResult {
  /** The texts, in order. */
  readonly texts: readonly string[];
  readonly isError: boolean;
  /** The structured result, in frameworks that have one. Not every client shows it to the model. */
  readonly structured?: unknown;
}

/** Calls a tool. @returns the model's view of the result. */
export type Framework = (client: RentalClient, name: string, args: object) => Promise<SeenResult>;

globalThis.AI_SDK_LOG_WARNINGS = false;

/** A client of a marketplace whose answers come from a function. */
export function clientOver(answer: typeof fetch): RentalClient {
  return createClient({ baseUrl: 'http://m.invalid', apiKey: STAND_IN_API_KEY, fetch: answer, retries: 0 });
}

/** Does some work with the MCP SDK's client. */
async function withMcp<T>(client: RentalClient, act: (mcp: Client) => Promise<T>): Promise<T> {
  const handler = createRentalMcpHandler();
  const mcp = new Client({ name: 'a-client', version: '1.0.0' });
  const answer = async (url: string | URL | Request, init?: RequestInit) =>
    handler.fetch(new Request(url, init), { client, id: 'caller' });
  await mcp.connect(new StreamableHTTPClientTransport(new URL('http://mcp.invalid/mcp'), { fetch: answer }));
  try {
    return await act(mcp);
  } finally {
    await mcp.close();
    await handler.close();
  }
}

/** The tool definitions that a model gets over MCP. */
export const toolsOverMcp = (client: RentalClient): Promise<Tool[]> =>
  withMcp(client, async (mcp) => (await mcp.listTools()).tools);

async function overMcp(client: RentalClient, name: string, args: object): Promise<SeenResult> {
  return withMcp(client, async (mcp) => {
    const result = await mcp.callTool({ name, arguments: { ...args } });
    // Links to the rest of a long output are separate blocks.
    const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    const { structuredContent: structured, isError = false } = result;
    return { texts, isError, ...(structured === undefined ? {} : { structured }) };
  });
}

async function inLangChain(client: RentalClient, name: string, args: object): Promise<SeenResult> {
  const model = fakeModel()
    .respondWithTools([{ name, args: { ...args }, id: 'call_1' }])
    .respond(new AIMessage('Done.'));
  const agent = createAgent({ model, tools: await langchainTools(client) });
  const { messages } = await agent.invoke({ messages: [new HumanMessage('Go.')] });
  const message = messages.find((one) => ToolMessage.isInstance(one));
  if (typeof message?.content !== 'string') throw new Error('The model got no text.');
  return { texts: [message.content], isError: message.status === 'error' };
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function inAiSdk(ai: typeof ai6, Model: typeof MockLanguageModelV3): Framework {
  return async (client, name, args) => {
    const model = new Model({
      doGenerate: [
        {
          content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: name, input: JSON.stringify(args) }],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        },
        {
          content: [{ type: 'text', text: 'Done.' }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        },
      ],
    });
    const tools = await aiTools(client);
    await ai.generateText({ model, tools, prompt: 'Go.', stopWhen: ai.stepCountIs(2) });
    const prompt = model.doGenerateCalls[1]?.prompt ?? [];
    const [part] = prompt.flatMap((message) => (message.role === 'tool' ? message.content : []));
    if (part?.type !== 'tool-result') throw new Error('The model got no result.');
    const { output } = part;
    if (output.type !== 'text' && output.type !== 'error-text')
      throw new Error(`The model got ${output.type}.`);
    return { texts: [output.value], isError: output.type === 'error-text' };
  };
}

/** Every framework with an adapter. */
export const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  MCP: overMcp,
  LangChain: inLangChain,
  'AI SDK 6': inAiSdk(ai6, MockLanguageModelV3),
  'AI SDK 7': async (...call) => {
    const { ai, testing } = await loadAiSdk7();
    const Model = testing['MockLanguageModelV4'] as typeof MockLanguageModelV3;
    return inAiSdk(ai as typeof ai6, Model)(...call);
  },
};

/** Whether quick tests leave a framework out, because it is installed from npm. */
export const isLeftOut = (framework: string): boolean => IS_QUICK && framework === 'AI SDK 7';
