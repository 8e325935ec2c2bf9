import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { MCPClient } from '@mastra/mcp';

const mcp = new MCPClient({
  servers: {
    rental: {
      url: new URL(process.env.MCP_URL),
      requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
    },
  },
});
try {
  const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
  const agent = new Agent({
    id: 'assistant',
    name: 'Assistant',
    instructions: 'Use the tools.',
    model: openai('gpt-4.1'),
    tools: await mcp.listTools(),
  });
  const { text } = await agent.generate(process.env.PROMPT, { maxSteps: 20 });
  process.stdout.write(`${text}\n`);
} finally {
  await mcp.disconnect();
}
