// As the README of @openai/agents shows it.
import { Agent, MCPServerStreamableHttp, run, setTracingDisabled } from '@openai/agents';

setTracingDisabled(true);
const server = new MCPServerStreamableHttp({
  url: process.env.MCP_URL,
  requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
});
await server.connect();
try {
  const agent = new Agent({
    name: 'Assistant',
    instructions: 'Use the tools.',
    model: 'gpt-4.1',
    mcpServers: [server],
  });
  const { finalOutput } = await run(agent, process.env.PROMPT, { maxTurns: 25 });
  process.stdout.write(`${finalOutput}\n`);
} finally {
  await server.close();
}
