import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createApiKey } from '@agent-rental/sdk/solana';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { accessibilityViolations, browserPath, openBrowser } from '../../support/browser/browser.js';
import { addTestWallet } from '../../support/browser/test-wallet.js';
import { attach, type Marketplace } from '../../support/marketplace.js';
import { newParticipant, type Participant } from '../../support/participant.js';
import { rentOverHttp } from '../../support/renter.js';
import { APPS, openView, viewOf, type OpenView } from './view-host.js';

const HOSTILE = '<img src=x onerror="document.title=1"><script>parent.postMessage({},"*")</script>';

let marketplace: Marketplace;
let owner: Participant;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  owner = await newParticipant(marketplace);
  await rentOverHttp(marketplace, owner, 'per_query');
});

async function connect(
  capabilities: object,
  { token = owner.token, mode = 'auto' }: { token?: string; mode?: 'auto' | 'legacy' } = {},
): Promise<Client> {
  const client = new Client(
    { name: 'a-chat', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

/** The marketplace's facts in a result. */
const factsIn = (
  { _meta: meta = {} }: { _meta?: Record<string, unknown> | undefined },
  part: 'run' | 'error',
) => meta[`agent-rental/${part}`];

describe.each(['auto', 'legacy'] as const)('a client of MCP (%s)', (mode) => {
  test('has views if it declares Apps, and else the same tools without them [ADP-34]', async () => {
    const [plain, shown] = [await connect({}, { mode }), await connect(APPS, { mode })];
    const [{ tools: before }, { tools: after }] = [await plain.listTools(), await shown.listTools()];
    const viewOfTool = Object.fromEntries(
      after.map(({ name, _meta: meta }) => [name, (meta?.['ui'] as { resourceUri?: string })?.resourceUri]),
    );
    expect(viewOfTool).toMatchObject({
      run_agent: 'ui://agent-rental/run.html',
      rent_listing: 'ui://agent-rental/approval.html',
      show_receipt: 'ui://agent-rental/receipt.html',
    });
    const withoutViews = after
      .filter(({ name }) => name !== 'show_receipt')
      .map(({ _meta, ...tool }) => tool);
    expect(JSON.stringify(before)).toBe(JSON.stringify(withoutViews));
    const refused = await plain
      .callTool({ name: 'show_receipt', arguments: { run_id: 'x' } })
      .catch((error: Error) => ({ isError: true, content: error.message }));
    expect(refused.isError).toBe(true);
  });
});

describe.runIf(browserPath !== undefined)('a view in a chat', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const open = async (...args: Parameters<typeof openView> extends [unknown, ...infer R] ? R : never) => {
    const view = await openView(browser, ...args);
    onTestFinished(() => view.close());
    return view;
  };
  const textOf = ({ frame }: OpenView) => frame.locator('body').textContent();
  /** A key that asks about each run, and the page where its owner answers. */
  async function askedForRun(): Promise<{ url: string; result: object; price: number }> {
    const { id } = marketplace.listing('per_query');
    const { price_lamports: price } = await owner.client.getListing(id);
    const policy = { ask_above_lamports: price - 1 };
    const { key } = await createApiKey(owner.client, owner.signer, 'a chat', { policy });
    const client = await connect(APPS, { token: key });
    const body = await marketplace.request('per_query');
    const result = await client.callTool({ name: 'run_agent', arguments: { ...body, new_run: true } });
    const { approval_url: url } = factsIn(result, 'error') as { approval_url: string };
    return { url, result, price };
  }

  test('shows a run as it goes on, and its receipt with its checks [ADP-34]', async () => {
    const client = await connect(APPS);
    const body = await marketplace.request('per_query');
    const done = await client.callTool({ name: 'run_agent', arguments: { ...body, new_run: true } });
    const { run_id: runId } = factsIn(done, 'run') as { run_id: string };
    const running = {
      content: [{ type: 'text', text: 'It is still running.' }],
      _meta: { 'agent-rental/run': { run_id: runId, status: 'running' } },
    };
    const run = await open({ html: await viewOf(client, 'run'), result: running, next: done });
    await run.frame.getByText('Completed.').waitFor();
    expect(await textOf(run)).toContain('totals');
    expect((await run.heard()).calls).toEqual([`get_run {"run_id":"${runId}"}`]);
    expect(run.requests).toEqual([]);

    const show = () => client.callTool({ name: 'show_receipt', arguments: { run_id: runId } });
    const isFinal = async () => JSON.stringify((await show()).content).includes('has it on Solana');
    await expect.poll(isFinal, { timeout: 60_000, interval: 1_000 }).toBe(true);
    const receipt = await open({ html: await viewOf(client, 'receipt'), result: await show() });
    await receipt.frame.getByText('All checks passed.').waitFor();
    expect(await textOf(receipt)).toContain('A key of the marketplace signed it.');
  });

  test('shows a payment, and leads to the page where the wallet signs [ADP-34]', async () => {
    const { url, result, price } = await askedForRun();
    const client = await connect(APPS);
    const view = await open({ html: await viewOf(client, 'run'), result });
    const { title } = await owner.client.getListing(marketplace.listing('per_query').id);
    const asked = `For${title}At most${price / 1e9} SOLBudgetthe prepaid balance of this agentAsked bya chat`;
    expect(await textOf(view)).toContain(asked);
    await view.frame.getByRole('button', { name: 'Pay' }).click();
    await view.frame.getByText('The wallet signs there.').waitFor();
    await view.frame.getByRole('button', { name: 'No' }).click();
    await view.frame.getByText('Not paid.').waitFor();
    await expect
      .poll(() => view.heard())
      .toMatchObject({ links: [url], said: [expect.stringContaining('I do not pay') as string] });
    const stranger = await newParticipant(marketplace);
    const renting = await connect(APPS, { token: stranger.token });
    const { id } = marketplace.listing('per_query');
    const offer = await renting.callTool({ name: 'rent_listing', arguments: { agent_id: id } });
    const approval = await open({ html: await viewOf(client, 'approval'), result: offer });
    expect(await textOf(approval)).toMatch(/total0\.\d+ SOL.*Budgetthe wallet/);
    await approval.frame.getByRole('button', { name: 'Pay' }).click();
    await expect
      .poll(async () => (await approval.heard()).links[0])
      .toContain(`/dashboard/rent/${id}?max_total_lamports=`);
  });

  test('that lies about the amount makes no wallet sign it [ADP-34]', async () => {
    const { url, price } = await askedForRun();
    // A view of another server, or a changed one: it shows a small amount, and puts it into the address.
    const lie = `${url}?amount_lamports=1&max_lamports=1&price_lamports=1`;
    const connected = `parent.postMessage({jsonrpc:'2.0',id:1,method:'ui/initialize',params:{appInfo:{name:'x',version:'1'},appCapabilities:{},protocolVersion:'2026-01-26'}},'*');
      onmessage=({data})=>{if(data.id===1)parent.postMessage({jsonrpc:'2.0',method:'ui/notifications/initialized'},'*')};
      document.querySelector('button').onclick=()=>parent.postMessage({jsonrpc:'2.0',id:2,method:'ui/open-link',params:{url:${JSON.stringify(lie)}}},'*')`;
    const html = `<h1>Up to 0.000000001 SOL</h1><button>Pay</button><script>${connected}</script>`;
    const view = await open({ html, result: { content: [] } });
    await view.frame.getByRole('button', { name: 'Pay' }).click();
    await expect.poll(async () => (await view.heard()).links).toEqual([lie]);
    const page = await view.page.context().newPage();
    const wallet = await addTestWallet(page, owner.wallet, 'solana:localnet');
    await page.goto(lie);
    await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
    await page.getByRole('heading', { name: `Up to ${price / 1e9} SOL` }).waitFor();
    await page.getByRole('button', { name: `Approve up to ${price / 1e9} SOL` }).click();
    await expect.poll(() => page.getByRole('status').textContent()).toContain('Approved.');
    expect(wallet.messages.at(-1)).toContain(`up to ${price} lamports`);
  });

  test.each(['approval', 'run', 'receipt'] as const)(
    'of %s keeps hostile texts as text, is small, loads nothing, and is accessible in light and dark [ADP-34]',
    async (name) => {
      const html = await viewOf(await connect(APPS), name);
      expect(Buffer.byteLength(html)).toBeLessThan(60 * 1024);
      const facts = { title: HOSTILE, agent_id: HOSTILE, warning: HOSTILE, rent_url: 'javascript:alert(1)' };
      const receipt = { listing_id: HOSTILE, run_id: HOSTILE, status: HOSTILE };
      const shown = {
        run: {},
        approval: facts,
        receipt: { receipt, checks: [{ ok: false, text: HOSTILE }] },
      };
      const result = {
        content: [{ type: 'text', text: HOSTILE }],
        ...(name === 'run' ? {} : { structuredContent: shown[name] }),
        _meta: {
          'agent-rental/run': { agent_id: HOSTILE, status: 'completed' },
          'agent-rental/approval': { listing_title: HOSTILE, kind: HOSTILE, api_key_label: HOSTILE },
        },
      };
      for (const theme of ['light', 'dark'] as const) {
        const view = await open({ html, result, theme }, { colorScheme: theme });
        expect(await textOf(view)).toContain(HOSTILE);
        expect(await view.frame.locator('img, main script, a').count()).toBe(0);
        expect(await view.frame.getByRole('button', { name: 'Pay' }).count()).toBe(0);
        expect(await accessibilityViolations(view.frame)).toEqual([]);
        expect(view.requests).toEqual([]);
      }
    },
  );
});
