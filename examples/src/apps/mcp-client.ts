/**
 * Uses rented agents through MCP, with the official client: lists the tools and calls one of them.
 *
 *   node examples/dist/apps/mcp-client.js
 */
import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { print, readDevState, sampleRequest } from './dev-state.js';

const state = await readDevState();
const apiKey = (await readFile(state.api_key_file, 'utf8')).trim();
const client = new Client({ name: 'agent-rental-example', version: '0.1.0' });
await client.connect(
  new StreamableHTTPClientTransport(new URL(state.mcp_url), { authProvider: { token: async () => apiKey } }),
);

const { tools } = await client.listTools();
print(`Tools: ${tools.map((tool) => tool.name).join(', ')}`);

const request = await sampleRequest(state, 'expense-reconciler');
const result = await client.callTool({
  name: request.agent_id.replaceAll('-', '_'),
  arguments: { agent_id: request.agent_id, task: request.task, input: request.input },
});
for (const part of result.content) if (part.type === 'text') print(part.text);
await client.close();
if (result.isError) process.exitCode = 1;
