/** An MCP server on standard input and output with one tool, which asks a model. `mcp-tool-agent.ts` serves the tool. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { streamText } from 'ai';
import * as z from 'zod';
import { INSTRUCTIONS, modelOfEnvironment } from './model.js';

const { baseURL, name, apiKey } = modelOfEnvironment();
const model = createOpenAICompatible({ name: 'model', baseURL, apiKey })(name);
const server = new McpServer({ name: 'plain-words', version: '1.0.0' });
const inputSchema = z.object({ text: z.string().describe('The text to rewrite.') });
server.registerTool('rewrite', { inputSchema }, async ({ text }, { mcpReq: { signal } }) => {
  const answer = streamText({ model, system: INSTRUCTIONS, prompt: text, abortSignal: signal });
  return { content: [{ type: 'text', text: await answer.text }] };
});
await server.connect(new StdioServerTransport());
