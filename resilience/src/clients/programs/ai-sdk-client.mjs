import { createMCPClient } from '@ai-sdk/mcp';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';

const client = await createMCPClient({
  transport: {
    type: 'http',
    url: process.env.MCP_URL,
    headers: { Authorization: `Bearer ${process.env.TOKEN}` },
  },
});
try {
  const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
  const { text } = await generateText({
    model: openai('gpt-4.1'),
    tools: await client.tools(),
    stopWhen: stepCountIs(20),
    prompt: process.env.PROMPT,
  });
  process.stdout.write(`${text}\n`);
} finally {
  await client.close();
}
