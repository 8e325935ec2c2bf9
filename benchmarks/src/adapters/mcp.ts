import type { JsonObject } from '@agent-rental/contract';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startProcess, type MeasuredProcess } from '../harness/measured-process.js';
import type { List } from './framework.js';
import type { McpServerOptions } from './mcp-server.js';
import type { Caller } from './rented-marketplace.js';

/** An MCP server in a separate process, and the official client's list of its tools. */
export interface McpProcess extends MeasuredProcess {
  readonly url: string;
  readonly list: List;
}

/** Starts the adapter, or the bare SDK when the options have tools. */
export async function startMcpProcess(options: McpServerOptions): Promise<McpProcess> {
  const server = await startProcess<{ url: string }>('adapters/mcp-server.js', options);
  const clients = new Map<number, Promise<Client>>();
  return {
    ...server,
    async list(caller, rentals) {
      // Connections stay open, as a client's do.
      const client = clients.get(rentals) ?? connectMcp(`${server.url}?rentals=${rentals}`, caller);
      clients.set(rentals, client);
      const { tools } = await (await client).listTools(undefined, { cacheMode: 'refresh' });
      return tools as unknown as JsonObject[];
    },
    async stop() {
      for (const client of clients.values()) await (await client).close();
      await server.stop();
    },
  };
}

/** The official client, connected as a caller. */
export async function connectMcp(url: string, { token }: Caller): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}
