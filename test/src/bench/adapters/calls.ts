import { rentedTools as aiTools } from '@agent-rental/ai-sdk';
import { rentedTools as langchainTools } from '@agent-rental/langchain';
import { createClient } from '@agent-rental/sdk';
import { connectMcp } from './mcp.js';
import type { RentedMarketplace } from './rented-marketplace.js';

/** Runs the runner's agent once; gives what the model would read. */
export type Call = (task: string) => Promise<string>;

/** Ways to run a rented agent: `fetch` alone, and through each adapter. */
export interface Calls {
  readonly floor: Call;
  readonly ours: Readonly<Record<string, Call>>;
  close(): Promise<void>;
}

/** Makes them, with their tools built and their connections open. */
export async function openCalls({ runner, mcpUrl }: RentedMarketplace): Promise<Calls> {
  const { baseUrl, token, agentId: agent_id } = runner;
  const name = agent_id.replaceAll('-', '_');
  const client = createClient({ baseUrl, apiKey: token });
  const langchainTool = found((await langchainTools(client)).find((tool) => tool.name === name));
  const { execute } = found((await aiTools(client))[name]);
  const mcp = await connectMcp(mcpUrl, runner);
  let callId = 0;
  return {
    async floor(task) {
      const response = await fetch(`${baseUrl}/v1/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agent_id, task }),
      });
      return String(((await response.json()) as { output?: unknown }).output);
    },
    ours: {
      async MCP(task) {
        const { content } = await mcp.callTool({ name, arguments: { agent_id, task } });
        return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      },
      async LangChain(task) {
        callId += 1;
        const args = { agent_id, task };
        const message: unknown = await langchainTool.invoke({
          type: 'tool_call',
          id: `call_${callId}`,
          name,
          args,
        });
        return String((message as { content: unknown }).content);
      },
      async 'AI SDK'(task) {
        callId += 1;
        const outputs = found(execute)({ agent_id, task }, { toolCallId: `call_${callId}`, messages: [] });
        let text = '';
        for await (const output of outputs as AsyncIterable<{ text: string }>) text = output.text;
        return text;
      },
    },
    close: () => mcp.close(),
  };
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The rented agent is not among the tools.');
  return value;
}
