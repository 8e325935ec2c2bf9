import type { JsonObject } from '@agent-rental/contract';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownCpuMs, type Leg } from './leg.js';
import type { McpServerOptions } from './mcp-server.js';
import type { Caller } from './rented-marketplace.js';

/** An MCP server in a process of its own, and the official client's way to it. */
export interface McpProcess extends Leg {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the adapter, or the SDK as it is where tools are given. */
export async function startMcpProcess(options: McpServerOptions): Promise<McpProcess> {
  const child = fork(fileURLToPath(new URL('mcp-server.js', import.meta.url)), {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' },
  });
  child.send(options);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const clients = new Map<number, Promise<Client>>();
  return {
    url,
    async list(caller, rentals) {
      // Connections stay open, as a client's do.
      const client = clients.get(rentals) ?? connectMcp(`${url}?rentals=${rentals}`, caller);
      clients.set(rentals, client);
      const { tools } = await (await client).listTools(undefined, { cacheMode: 'refresh' });
      return tools as unknown as JsonObject[];
    },
    async cpuMs() {
      child.send('cpu');
      const [{ cpu }] = (await once(child, 'message')) as [{ cpu: NodeJS.CpuUsage }];
      return (await ownCpuMs()) + (cpu.user + cpu.system) / 1000;
    },
    async stop() {
      for (const client of clients.values()) await (await client).close();
      child.disconnect();
      await once(child, 'exit');
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
