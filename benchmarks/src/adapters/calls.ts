import { rentedTools as aiTools } from '@agent-rental/ai-sdk';
import { rentedTools as langchainTools } from '@agent-rental/langchain';
import { createClient } from '@agent-rental/sdk';
import { DynamicStructuredTool, type StructuredToolInterface } from '@langchain/core/tools';
import { jsonSchema, tool, type ToolSet } from 'ai';
import { BARE_CALL, bareCall, type BareCall } from './bare-call.js';
import { connectMcp, startMcpProcess } from './mcp.js';
import type { RentedMarketplace } from './rented-marketplace.js';

/** Runs the runner's agent once. @returns the model's view of the result. */
export type Call = (task: string) => Promise<string>;

/** Ways to run a rented agent: `fetch` alone, and each framework with the adapter and with a tool over `fetch`. */
export interface Calls {
  readonly fetch: Call;
  readonly frameworks: Readonly<Record<string, { readonly ours: Call; readonly floor: Call }>>;
  close(): Promise<void>;
}

/** Builds the tools and opens the connections of all ways. */
export async function openCalls({ runner, mcpUrl }: RentedMarketplace): Promise<Calls> {
  const { baseUrl, token, agentId: agent_id } = runner;
  const name = agent_id.replaceAll('-', '_');
  const client = createClient({ baseUrl, apiKey: token });
  const bare = await startMcpProcess({ baseUrl, agent: name });
  const [mcp, bareMcp] = await Promise.all([connectMcp(mcpUrl, runner), connectMcp(bare.url, runner)]);
  const callMcp =
    (connected: McpClient): Call =>
    async (task) => {
      const { content } = await connected.callTool({ name, arguments: { agent_id, task } });
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    };
  const run = (args: BareCall) => bareCall(runner, args);
  return {
    fetch: (task) => bareCall(runner, { agent_id, task }),
    frameworks: {
      MCP: { ours: callMcp(mcp), floor: callMcp(bareMcp) },
      LangChain: {
        ours: callLangChain(
          found((await langchainTools(client)).find((tool) => tool.name === name)),
          agent_id,
        ),
        floor: callLangChain(
          new DynamicStructuredTool({ name, description: 'Runs it.', schema: BARE_CALL, func: run as never }),
          agent_id,
        ),
      },
      'AI SDK': {
        ours: callAiSdk(found((await aiTools(client))[name]), agent_id),
        floor: callAiSdk(
          tool({
            description: 'Runs it.',
            inputSchema: jsonSchema<BareCall>(BARE_CALL),
            execute: run,
          }) as AnyAiTool,
          agent_id,
        ),
      },
    },
    async close() {
      await Promise.all([mcp.close(), bareMcp.close()]);
      await bare.stop();
    },
  };
}

type McpClient = Awaited<ReturnType<typeof connectMcp>>;
type AnyAiTool = NonNullable<ToolSet[string]>;

function callLangChain(built: StructuredToolInterface, agent_id: string): Call {
  let calls = 0;
  return async (task) => {
    calls += 1;
    const args = { agent_id, task };
    const message: unknown = await built.invoke({
      type: 'tool_call',
      id: `call_${calls}`,
      name: built.name,
      args,
    });
    return String((message as { content: unknown }).content);
  };
}

function callAiSdk(built: AnyAiTool, agent_id: string): Call {
  let calls = 0;
  return async (task) => {
    calls += 1;
    const given: unknown = found(built.execute)(
      { agent_id, task },
      { toolCallId: `call_${calls}`, messages: [] },
    );
    if (given instanceof Promise) return String(await given);
    let text = '';
    for await (const output of given as AsyncIterable<{ text: string }>) text = output.text;
    return text;
  };
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The rented agent is not among the tools.');
  return value;
}
