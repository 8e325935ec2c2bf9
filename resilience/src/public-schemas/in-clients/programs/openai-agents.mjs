import { Agent, getAllMcpTools, MCPServerStreamableHttp, RunContext } from '@openai/agents';
import { headers, run } from './calls.mjs';

await run(async (url, makeCalls) => {
  const server = new MCPServerStreamableHttp({ url, requestInit: { headers } });
  await server.connect();
  const runContext = new RunContext();
  const agent = new Agent({ name: 'Assistant' });
  const listed = await getAllMcpTools({ mcpServers: [server], runContext, agent });
  const tools = new Map(listed.map((tool) => [tool.name, tool]));
  await makeCalls((name, args) => tools.get(name).invoke(runContext, JSON.stringify(args)));
  await server.close();
});
