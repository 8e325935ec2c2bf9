import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newRenter } from '../support/renter.js';

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

test('an agent is rented and then used in one MCP session, through run_agent and through its own tool [ADP-1, REN-2]', async () => {
  const { call } = await newSession({ AGENT_RENTAL_MAX_DAY_SOL: '0.1' });
  const request = await marketplace.request('per_query');
  const { id } = marketplace.listing('per_query');
  expect((await call('run_agent', request)).isError).toBe(true);
  expect(await call('rent_listing', { agent_id: id })).toMatchObject({ structuredContent: { rented: true } });
  expect(await call('run_agent', request)).toMatchObject({
    structuredContent: { output: { totals: expect.anything() as unknown } },
  });
  const direct = await call(id.replaceAll('-', '_'), request);
  expect(direct).toMatchObject({ structuredContent: { output: { totals: expect.anything() as unknown } } });
});

test('one hire over MCP goes from search to the paid answer, inside the policy [ADP-7, REN-4]', async () => {
  const { call } = await newSession({ AGENT_RENTAL_MAX_DAY_SOL: '0.01' });
  const { task, input } = await marketplace.request('per_query');
  const hired = await call('hire', { task, input, budget_sol: 0.01 });
  expect(hired.isError, JSON.stringify(hired.content)).toBeFalsy();
  expect(hired.structuredContent).toHaveProperty('output.totals');
  const refused = await call('rent_listing', { agent_id: marketplace.listing('one_time').id });
  expect(JSON.stringify(refused.content)).toContain('spending_refused');
});

test('over HTTP, where the server holds no wallet, a person gets the address to pay at [ADP-7]', async () => {
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

describe('the page at rent_url', () => {
  const page = (path: string) => fetch(`${marketplace.dev.base_url}/dashboard/rent/${path}`);
  /** The visible text of an element. */
  const textOf = (html: string, id: string) =>
    (new RegExp(`id="${id}"[^>]*>([^]*?)</`).exec(html)?.[1] ?? '')
      .replaceAll('&lt;', '<')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');

  test.each(['one_time', 'subscription', 'per_query'] as const)(
    'has a program that rents a %s agent, run unchanged [ADP-7]',
    async (model) => {
      const { wallet, token } = await newRenter(marketplace);
      const { id } = marketplace.listing(model);
      const answer = await page(`${id}?max_total_lamports=12000000`);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const html = await answer.text();
      expect(html).toContain('Your link names 0.012 SOL as the most in all');
      // Where the packages are found.
      const folder = await mkdtemp(fileURLToPath(new URL('../../dist/rent-', import.meta.url)));
      onTestFinished(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
      await writeFile(join(folder, 'rent.mjs'), textOf(html, 'program'));
      const run = promisify(execFile);
      const { stdout } = await run(process.execPath, ['rent.mjs'], { cwd: folder });
      expect(stdout).toContain("status: 'active'");
      const verified = await call(marketplace, 'GET', `/v1/credentials/${id}`, { token });
      expect(verified.body).toMatchObject({ valid: true });
    },
    120_000,
  );

  test('loads nothing but its own script', async () => {
    const { headers } = await page(marketplace.listing('per_query').id);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
  });

  test.each([
    ['no-such-agent-aaaaaa', 404],
    ['%3Cscript%3E', 400],
  ])('of %s is an error of the API', async (path, status) => {
    const answer = await page(path);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { status } });
  });
});
