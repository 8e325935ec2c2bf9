import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';

const client = new MultiServerMCPClient({
  mcpServers: {
    rental: {
      transport: 'http',
      url: process.env.MCP_URL,
      headers: { Authorization: `Bearer ${process.env.TOKEN}` },
    },
  },
});
try {
  const model = new ChatOpenAI({
    model: 'gpt-4.1',
    configuration: { baseURL: process.env.OPENAI_BASE_URL },
  });
  const agent = createAgent({ model, tools: await client.getTools() });
  const { messages } = await agent.invoke(
    { messages: [{ role: 'user', content: process.env.PROMPT }] },
    { recursionLimit: 50 },
  );
  process.stdout.write(`${messages.at(-1).text}\n`);
} finally {
  await client.close();
}
