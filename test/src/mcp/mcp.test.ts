import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';

const BIN = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server')));

let marketplace: Marketplace;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

const transports = {
  HTTP: (): Transport =>
    new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
      requestInit: { headers: { authorization: `Bearer ${marketplace.apiKey}` } },
    }),
  stdio: (): Transport =>
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN],
      env: { AGENT_RENTAL_URL: marketplace.dev.base_url, AGENT_RENTAL_API_KEY: marketplace.apiKey },
    }),
};

describe.each(['HTTP', 'stdio'] as const)('the official SDK’s v1 client over %s', (kind) => {
  async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ name: 'a-client-that-is-not-ours', version: '1.0.0' });
    await client.connect(transports[kind]());
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }

  test('lists the fixed tools and one direct tool per rental [ADP-1]', async () => {
    const { tools } = await withClient((client) => client.listTools());
    const names = tools.map((tool) => tool.name);
    expect(names).toEqual(expect.arrayContaining(['search_listings', 'run_agent']));
    expect(names.filter((name) => /^(expense|source|contract)/.test(name))).toHaveLength(3);
  });

  test('calls a rented agent through its direct tool', async () => {
    const { id } = marketplace.listing('per_query');
    const { task, input } = await marketplace.request('per_query');
    const result = await withClient(async (client) => {
      const { tools } = await client.listTools();
      const direct = tools.find((tool) => JSON.stringify(tool.inputSchema).includes(id));
      return client.callTool({ name: direct?.name ?? 'missing', arguments: { agent_id: id, task, input } });
    });
    expect(result.isError).toBeFalsy();
    expect(result.structuredContent).toMatchObject({
      output: { totals: expect.anything() as unknown },
      run: { charged: true },
    });
  });

  test('searches, and runs a result through run_agent [SVC-9]', async () => {
    const { id } = marketplace.listing('one_time');
    const request = await marketplace.request('one_time');
    const [found, ran] = await withClient(async (client) => [
      await client.callTool({ name: 'search_listings', arguments: { query: 'contract' } }),
      await client.callTool({ name: 'run_agent', arguments: request }),
    ]);
    expect(JSON.stringify(found?.content)).toContain(id);
    expect(ran?.isError).toBeFalsy();
  });
});

test('an MCP request without a token is refused with 401 [ADP-5]', async () => {
  const response = await fetch(marketplace.dev.mcp_url, { method: 'POST', body: '{}' });
  expect(response.status).toBe(401);
});
