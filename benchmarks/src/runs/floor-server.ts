/**
 * The floors, as a process: bare Fastify with a route that calls the agent, and the bare MCP SDK with such a tool. They have no
 * authentication, no database and no record of the run. With `replay`, the route also sends the statements of a run, prepared.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { fastify } from 'fastify';
import { Pool, type PoolClient } from 'pg';
import { BARE_CALL, type BareCall } from '../adapters/bare-call.js';
import { serve } from '../harness/measured-process.js';
import { sentValue, type SentStatement } from '../harness/sent-statements.js';

/** The parent's options. */
export interface FloorOptions {
  readonly agentUrl: string;
  readonly replay?: {
    readonly databaseUrl: string;
    /** The recorded run's id in the statements' values. Each run replaces it. */
    readonly runId: string;
    readonly beforeCall: readonly SentStatement[];
    readonly afterCall: readonly SentStatement[];
  };
}

/** The addresses of the floors. */
export interface FloorUrls {
  readonly http: string;
  readonly mcp: string;
}

serve(async ({ agentUrl, replay }: FloorOptions): Promise<FloorUrls> => {
  const callAgent = async (task: string): Promise<string> => {
    const response = await fetch(agentUrl, { method: 'POST', body: JSON.stringify({ task }) });
    return String(await response.json());
  };
  const run = replay ? withStatements(replay, callAgent) : callAgent;
  const app = fastify();
  app.post('/v1/execute', async ({ body }) => ({
    status: 'completed',
    output: await run((body as BareCall).task),
  }));
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
  });
  await new Promise<void>((resolve) => mcp.listen(0, '127.0.0.1', resolve));
  return { http, mcp: `http://127.0.0.1:${(mcp.address() as AddressInfo).port}/mcp` };
});

/** Sends the statements of a run before and after the call of its agent, with a new id. */
function withStatements(
  { databaseUrl, runId, beforeCall, afterCall }: NonNullable<FloorOptions['replay']>,
  callAgent: (task: string) => Promise<string>,
): (task: string) => Promise<string> {
  const pool = new Pool({ connectionString: databaseUrl, max: 20 });
  const send = async (
    client: PoolClient,
    half: string,
    statements: readonly SentStatement[],
    own: string,
  ) => {
    for (const [index, { text, values }] of statements.entries()) {
      const ownValues = values.map((value) => sentValue(value, (part) => part.replaceAll(runId, own)));
      // Each connection prepares each statement once.
      await client.query({ name: `${half} ${index}`, text, values: ownValues });
    }
  };
  return async (task) => {
    const own = randomUUID();
    const client = await pool.connect();
    try {
      await send(client, 'before', beforeCall, own);
      const output = await callAgent(task);
      await send(client, 'after', afterCall, own);
      return output;
    } finally {
      client.release();
    }
  };
}
