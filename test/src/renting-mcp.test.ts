import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { attach, type Marketplace } from './support/marketplace.js';
import { newRenter } from './support/renter.js';

const BIN = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server')));

let marketplace: Marketplace;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

/** A scripted client that never lists the tools, and so never hears that there are new ones. */
async function newSession(env: Record<string, string>) {
  const { wallet, token } = await newRenter(marketplace);
  const folder = await mkdtemp(join(tmpdir(), 'agent rental mcp '));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'wallet.json');
  await writeFile(path, JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
  const client = new Client({ name: 'scripted', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN],
      env: {
        AGENT_RENTAL_URL: marketplace.dev.base_url,
        AGENT_RENTAL_WALLET: path,
        AGENT_RENTAL_SPENDING_DIR: join(folder, 'spending'),
        ...env,
      },
    }),
  );
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  return { call, token };
}

test('an agent is rented and then used in one MCP session, through run_agent and through its own tool [ADP-2, REN-2]', async () => {
  const { call } = await newSession({ AGENT_RENTAL_MAX_DAY_SOL: '0.1' });
  const request = await marketplace.request('per_query');
  const { id } = marketplace.listing('per_query');
  expect((await call('run_agent', request)).isError).toBe(true);
  expect(await call('rent_listing', { agent_id: id })).toMatchObject({ structuredContent: { rented: true } });
  expect(await call('run_agent', request)).toMatchObject({
    structuredContent: { totals: expect.anything() as unknown },
  });
  const direct = await call(id.replaceAll('-', '_'), request);
  expect(direct).toMatchObject({ structuredContent: { totals: expect.anything() as unknown } });
});

test('one hire over MCP goes from search to the paid answer, inside the policy [ADP-7, REN-4]', async () => {
  const { call } = await newSession({ AGENT_RENTAL_MAX_DAY_SOL: '0.01' });
  const { task, input } = await marketplace.request('per_query');
  const hired = await call('hire', { task, input, budget_sol: 0.01 });
  expect(hired.isError, JSON.stringify(hired.content)).toBeFalsy();
  expect(hired.structuredContent).toHaveProperty('totals');
  const refused = await call('rent_listing', { agent_id: marketplace.listing('one_time').id });
  expect(JSON.stringify(refused.content)).toContain('spending_refused');
});

test('over HTTP, where the server holds no wallet, a person gets the address to pay at [REN-1]', async () => {
  const { token } = await newRenter(marketplace);
  const client = new Client({ name: 'scripted', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  onTestFinished(() => client.close());
  const { id } = marketplace.listing('per_query');
  const offer = await client.callTool({ name: 'rent_listing', arguments: { agent_id: id } });
  const { rent_url: url } = offer.structuredContent as { rent_url: string };
  expect(url.startsWith(`${marketplace.dev.base_url}/dashboard/rent/${id}?`)).toBe(true);
});
