import { MCPClient } from '@mastra/mcp';
import { headers, run } from './calls.mjs';

await run(async (url, makeCalls) => {
  const mcp = new MCPClient({
    id: url,
    servers: { rental: { url: new URL(url), requestInit: { headers } } },
  });
  const tools = await mcp.listTools();
  await makeCalls((name, args) => tools[`rental_${name}`].execute(args, {}));
  await mcp.disconnect();
});
