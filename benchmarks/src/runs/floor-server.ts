/**
 * The floors, as a process: Fastify as it comes with a route that calls the agent, and the MCP SDK as it comes with a tool that
 * does. No authentication, no database, no record of the run. A second route also sends the statements of a run, prepared.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { fastify } from 'fastify';
import { Pool } from 'pg';
import { BARE_CALL, type BareCall } from '../adapters/bare-call.js';
import { createReplay, type Replay } from './replay.js';
import type { RunStatements } from './run-statements.js';

/** What the parent sends first. */
export interface FloorOptions {
  readonly agentUrl: string;
}

/** What it is answered. */
export interface FloorUrls {
  readonly http: string;
  readonly mcp: string;
}

/** Sent before the route of statements is called. */
export interface ReplayOptions {
  readonly databaseUrl: string;
  readonly recorded: RunStatements;
}

let replay: Replay | undefined;

async function serve({ agentUrl }: FloorOptions): Promise<void> {
  const callAgent = async (task: string): Promise<string> => {
    const response = await fetch(agentUrl, { method: 'POST', body: JSON.stringify({ task }) });
    return String(await response.json());
  };
  const app = fastify();
  app.route({
    method: 'POST',
    url: '/v1/execute',
    handler: async (request) => ({
      status: 'completed',
      output: await callAgent((request.body as BareCall).task),
    }),
  });
  app.route({
    method: 'POST',
    url: '/v1/execute/statements',
    async handler(request) {
      if (!replay) throw new Error('No statements were given.');
      const call = () => callAgent((request.body as BareCall).task);
      return { status: 'completed', output: await replay(call) };
    },
  });
  const http = await app.listen({ host: '127.0.0.1', port: 0 });
  const inputSchema = fromJsonSchema<BareCall>(BARE_CALL);
  const handler = createMcpHandler(async () => {
    const server = new McpServer({ name: 'floor', version: '1.0.0' });
    server.registerTool('run_agent', { description: 'Runs it.', inputSchema }, async ({ task }) => ({
      content: [{ type: 'text', text: await callAgent(task) }],
    }));
    return server;
  });
  const mcp = createServer((incoming, outgoing) => {
    void toNodeHandler({ fetch: (request: Request) => handler.fetch(request) })(
      incoming as typeof incoming & { method: string; url: string },
      outgoing,
    );
  }).listen(0, '127.0.0.1', () => {
    const { port } = mcp.address() as AddressInfo;
    process.send?.({ http, mcp: `http://127.0.0.1:${port}/mcp` } satisfies FloorUrls);
  });
}

process.once('message', (options) => void serve(options as FloorOptions));
process.on('message', (message: 'cpu' | FloorOptions | ReplayOptions) => {
  if (message === 'cpu') process.send?.({ cpu: process.cpuUsage() });
  else if ('recorded' in message) {
    replay = createReplay(new Pool({ connectionString: message.databaseUrl, max: 20 }), message.recorded);
    process.send?.({ ready: true });
  }
});
process.once('disconnect', () => process.exit());
