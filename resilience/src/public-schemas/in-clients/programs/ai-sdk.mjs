import { createMCPClient } from '@ai-sdk/mcp';
import { asSchema } from 'ai';
import { headers, run } from './calls.mjs';

await run(async (url, makeCalls) => {
  const client = await createMCPClient({ transport: { type: 'http', url, headers } });
  const tools = await client.tools();
  await makeCalls(async (name, args) => {
    // As `generateText` checks a model's arguments.
    const checked = await asSchema(tools[name].inputSchema).validate?.(args);
    if (checked?.success === false) throw checked.error;
    return tools[name].execute(args, { toolCallId: '1', messages: [] });
  });
  await client.close();
});
