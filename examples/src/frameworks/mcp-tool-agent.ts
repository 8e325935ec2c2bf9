/**
 * Serves a tool of an MCP server as a connected agent. The arguments are the tool and the command of its server.
 *
 *   node examples/dist/frameworks/mcp-tool-agent.js rewrite node examples/dist/frameworks/mcp-server.js
 */
import { mcpToolAgent, serveAgent } from '@agent-rental/sdk/creator';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [name = '', command = '', ...args] = process.argv.slice(2);
const client = new Client({ name: 'mcp-tool-agent', version: '1.0.0' });
// The server gets the environment, which has the address of its model.
await client.connect(new StdioClientTransport({ command, args, env: process.env as Record<string, string> }));
const { tools } = await client.listTools();
const tool = tools.find((candidate) => candidate.name === name);
if (!tool)
  throw new Error(`The server has no tool ${name}, only ${tools.map((each) => each.name).join(', ')}.`);

const { url } = await serveAgent({ run: mcpToolAgent(client, name), inputSchema: tool.inputSchema });
process.stdout.write(`The agent listens at ${url}\n`);
