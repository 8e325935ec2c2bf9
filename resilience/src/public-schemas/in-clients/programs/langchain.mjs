import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { headers, run } from './calls.mjs';

await run(async (url, makeCalls) => {
  const client = new MultiServerMCPClient({ mcpServers: { rental: { transport: 'http', url, headers } } });
  const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]));
  await makeCalls((name, args) => tools.get(name).invoke(args));
  await client.close();
});
