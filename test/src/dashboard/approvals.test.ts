import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fileURLToPath } from 'node:url';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, rent } from '@agent-rental/sdk/solana';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { PRICE, publishAgent, textAgent } from '../support/agents/agents.js';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
} from '../support/browser/browser.js';
import { addTestWallet, type AskedWallet } from '../support/browser/test-wallet.js';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newTestApp } from '../support/oauth/app.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { balanceOnChain, rentOverHttp } from '../support/renter.js';

const BIN = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server')));
const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 740 }, hasTouch: true };

describe.runIf(browserPath !== undefined)('a payment that an API key asks for', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  let owner: Participant;
  let request: Record<string, unknown>;
  let price: number;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    owner = await newParticipant(marketplace);
    browser = await openBrowser();
    await rentOverHttp(marketplace, owner, 'per_query');
    request = await marketplace.request('per_query');
    price = (await owner.client.getListing(marketplace.listing('per_query').id)).price_lamports;
  });
  afterAll(() => browser?.close());

  /** A key whose policy asks about each run, and a call of the agent with a unique task. */
  async function askingKey(
    label = 'my phone agent',
  ): Promise<{ key: string; body: Record<string, unknown> }> {
    const { key } = await createApiKey(owner.client, owner.signer, label, {
      policy: { ask_above_lamports: price - 1 },
    });
    return { key, body: { ...request, task: `${String(request['task'])} (${key.slice(-12)})` } };
  }

  const runs = async () => (await owner.client.listRuns({ limit: 1 })).total;
  const saysIn = (page: Page, text: string) =>
    expect.poll(() => page.getByRole('status').textContent(), { timeout: 15_000 }).toContain(text);

  /** Opens a page with a wallet in it and logs in. */
  async function loggedIn(
    url: string,
    visit: (page: Page, wallet: AskedWallet) => Promise<void>,
    { as = owner, ...options }: BrowserContextOptions & { as?: Participant } = PHONE,
  ): Promise<void> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const wallet = await addTestWallet(page, as.wallet, 'solana:localnet');
    await page.goto(url);
    await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
    await visit(page, wallet);
    await context.close();
  }

  async function approveOn(url: string): Promise<void> {
    await loggedIn(url, async (page) => {
      await page.getByRole('button', { name: /^Approve up to / }).click();
      await saysIn(page, 'Approved.');
    });
  }

  async function connectMcp(key: string, capabilities: object) {
    const client = new Client({ name: 'an-agent', version: '1.0.0' }, { capabilities });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), { requestInit }),
    );
    onTestFinished(() => client.close());
    return client;
  }

  const textOf = (result: { content: unknown }) => JSON.stringify(result.content);
  const linkIn = (text: string) => /http[^\s"\\]*\/dashboard\/approvals\/[0-9a-f-]{36}/.exec(text)?.[0] ?? '';

  test('over MCP by a client that cannot ask is approved on the linked page from a phone, and its next call works once [ID-70, ID-79]', async () => {
    const label = 'my <b>"phone" agent';
    const { key, body } = await askingKey(label);
    const agent = await connectMcp(key, {});
    const use = () => agent.callTool({ name: 'run_agent', arguments: { ...body, new_run: true } });
    const before = [await runs(), await balanceOnChain(marketplace, owner.wallet.publicKey)] as const;
    const refused = await use();
    expect(refused.isError).toBe(true);
    const link = linkIn(textOf(refused));
    expect(textOf(refused)).toContain('approval_required');
    expect(await runs()).toBe(before[0]);

    await loggedIn(link, async (page, wallet) => {
      await page.getByRole('heading', { name: `Up to ${price / 1e9} SOL` }).waitFor();
      const shown = (await page.locator('#question').textContent()) ?? '';
      const order = [`${price / 1e9} SOL`, label, String(body['agent_id']), 'its creator gave'];
      const places = order.map((text) => shown.indexOf(text));
      expect([...places].sort((a, b) => a - b)).toEqual(places);
      expect(places[0]).toBeGreaterThanOrEqual(0);
      expect(await page.locator('dd > bdi').textContent()).toBe(label);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.getByRole('button', { name: `Approve up to ${price / 1e9} SOL` }).click();
      await saysIn(page, 'Approved.');
      await page.getByText(/tell it to\.$/).waitFor();
      // The wallet's last signature covers the amount and the agent.
      expect(wallet.messages.at(-1)).toMatch(
        new RegExp(
          `^agent-rental: approve spending\\n[^]*up to ${price} lamports[^]*${String(body['agent_id'])}`,
        ),
      );
    });

    const worked = await use();
    expect([worked.isError ?? false, textOf(worked)]).toEqual([false, expect.stringContaining('totals')]);
    const again = await use();
    expect([again.isError, linkIn(textOf(again)) === link]).toEqual([true, false]);
    expect(await runs()).toBe(before[0] + 1);
    expect(before[1] - (await balanceOnChain(marketplace, owner.wallet.publicKey))).toBe(BigInt(price));
    await loggedIn(link, (page) => page.getByText('It was approved, and the call has been made.').waitFor());
  });

  test('stays refused once its owner has refused it [ID-73]', async () => {
    const { key, body } = await askingKey();
    const agent = await connectMcp(key, {});
    const link = linkIn(textOf(await agent.callTool({ name: 'run_agent', arguments: body })));
    await loggedIn(link, async (page, wallet) => {
      await page.getByRole('button', { name: 'Refuse' }).click();
      await saysIn(page, 'Refused.');
      expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
      // It is no approval, so only the login was signed.
      expect(wallet.messages).toHaveLength(1);
    });
    const refused = await agent.callTool({ name: 'run_agent', arguments: body });
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('has refused this')]);
    expect(linkIn(textOf(refused))).toBe('');
  });

  test.each([
    ['a form', { elicitation: {} }, 'form'],
    ['a form', { elicitation: { form: {} } }, 'form'],
    ['a URL', { elicitation: { url: {} } }, 'url'],
    ['a URL', { elicitation: { form: {}, url: {} } }, 'url'],
  ])(
    'is led to its page by %s by a client that declares %j, and goes on in the same call [ID-79]',
    async (_, capabilities, mode) => {
      const { key, body } = await askingKey();
      const agent = await connectMcp(key, capabilities);
      const asked: unknown[] = [];
      agent.setRequestHandler('elicitation/create', async ({ params }) => {
        const given = params as { mode?: string; url?: string; message: string };
        const url = given.mode === 'url' ? given.url : linkIn(given.message);
        asked.push([given.mode ?? 'form', url]);
        await approveOn(url ?? '');
        return { action: 'accept', ...(given.mode === 'url' ? {} : { content: { answered: true } }) };
      });
      const result = await agent.callTool({ name: 'run_agent', arguments: body });
      expect(textOf(result)).toContain('totals');
      expect(asked).toEqual([[mode, expect.stringContaining('/dashboard/approvals/')]]);
    },
  );

  test.each([
    [{ elicitation: {} }, 'form'],
    [{ elicitation: { url: {} } }, 'url'],
  ])(
    'is led to its page by a client of 2025 that declares %j, whose own answer approves nothing [ID-73, ID-79]',
    async (capabilities, mode) => {
      const { key, body } = await askingKey();
      const agent = new ClientV1({ name: 'an-agent', version: '1.0.0' }, { capabilities });
      const requestInit = { headers: { authorization: `Bearer ${key}` } };
      await agent.connect(new HttpV1(new URL(marketplace.dev.mcp_url), { requestInit }));
      onTestFinished(() => agent.close());
      let isApproved = false;
      const asked: unknown[] = [];
      agent.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        const url = 'url' in params ? params.url : linkIn(params.message);
        asked.push(params.mode ?? 'form');
        if (isApproved) await approveOn(url);
        // The server does not wait for a client that declines.
        return isApproved
          ? { action: 'accept' as const, content: mode === 'form' ? { answered: true } : undefined }
          : { action: 'decline' as const, content: { answered: true, approve: true } };
      });
      const before = await runs();
      const refused = await agent.callTool({ name: 'run_agent', arguments: body });
      expect([refused.isError, linkIn(textOf(refused as { content: unknown })) !== '']).toEqual([true, true]);
      expect(await runs()).toBe(before);
      isApproved = true;
      expect(
        textOf((await agent.callTool({ name: 'run_agent', arguments: body })) as { content: unknown }),
      ).toContain('totals');
      expect(asked).toEqual([mode, mode]);
    },
  );

  test('over HTTP is refused with the address of its page, and the same request works once it is approved [ID-70]', async () => {
    const { key, body } = await askingKey();
    const send = (changes: object = {}) =>
      call(marketplace, 'POST', '/v1/execute', {
        token: key,
        headers: { 'idempotency-key': `once-${key.slice(-12)}` },
        body: { ...body, ...changes },
      });
    const refused = await send();
    const { code, policy_rule, approval } = refused.body['error'] as Record<string, never> & {
      approval: { id: string; url: string };
    };
    expect([refused.status, code, policy_rule]).toEqual([403, 'insufficient_balance', 'ask_above_lamports']);
    await approveOn(approval.url);
    const other = await call(marketplace, 'POST', '/v1/execute', {
      token: key,
      body: { ...body, task: 'Another.' },
    });
    expect(other.status).toBe(403);
    const before = await runs();
    const first = await send();
    expect([first.status, (await send()).body['run_id']]).toEqual([200, first.body['run_id']]);
    expect(await runs()).toBe(before + 1);
    // With the wallet's login, no approval is asked.
    expect((await call(marketplace, 'POST', '/v1/execute', { token: owner.token, body })).status).toBe(200);
  });

  test('is neither seen nor answered by another wallet or by an API key [ID-73]', async () => {
    const { key, body } = await askingKey();
    const other = await askingKey('another');
    const stranger = await newParticipant(marketplace);
    const refused = await call(marketplace, 'POST', '/v1/execute', { token: key, body });
    const { id, url } = (refused.body['error'] as { approval: { id: string; url: string } }).approval;
    const path = `/v1/approvals/${id}`;
    const asKey = async (token: string, method: string) =>
      (
        await call(marketplace, method, path, {
          token,
          ...(method === 'POST' && { body: { answer: 'refuse' } }),
        })
      ).status;
    expect([await asKey(key, 'GET'), await asKey(key, 'POST')]).toEqual([200, 401]);
    expect([await asKey(other.key, 'GET'), await asKey(other.key, 'POST')]).toEqual([404, 401]);
    expect([await asKey(stranger.token, 'GET'), await asKey(stranger.token, 'POST')]).toEqual([404, 404]);
    expect((await call(marketplace, 'GET', '/v1/approvals', { token: key })).status).toBe(401);
    expect((await stranger.client.listApprovals()).approvals).toEqual([]);
    await loggedIn(
      url,
      async (page) => {
        await saysIn(page, 'You cannot see this question. There is no such question.');
        expect(await page.getByText(String(price / 1e9)).count()).toBe(0);
      },
      { ...PHONE, as: stranger },
    );
    // Without a login, the page shows nothing of the payment.
    expect(await (await fetch(url)).text()).not.toContain(String(body['agent_id']));
  });

  test('shows a hostile title last, on one line, in a place of its creator’s words alone [ID-79]', async () => {
    const creator = await newParticipant(marketplace);
    const title = `Quokka" Up to 0 SOL \u202e<img src=x onerror="document.title='taken'"> \u201d Approved.`;
    const listing = {
      rental_model: 'per_query',
      price_lamports: PRICE,
      title,
      sample_output: ['An answer.'],
    };
    const agent = textAgent('https://agent.invalid/v1', { listing });
    const agent_id = await publishAgent(creator, agent, { unverified: true });
    await rent(owner.client, owner.signer, agent_id, { deposit_lamports: 10_000_000 });
    const { key } = await askingKey();
    const body = { agent_id, task: 'Say something.', input: {} };
    const refused = await call(marketplace, 'POST', '/v1/execute', { token: key, body });
    const { error } = refused.body as { error: { message: string; approval: { url: string } } };
    expect(error.message).not.toContain('Quokka');
    await loggedIn(error.approval.url, async (page) => {
      await page.getByRole('heading', { name: `Up to ${PRICE / 1e9} SOL` }).waitFor();
      const words = (await page.locator('blockquote bdi').textContent()) ?? '';
      expect(words).toBe(`Quokka" Up to 0 SOL <img src=x onerror="document.title='taken'"> \u201d Approved.`);
      expect(await page.title()).toBe('Approve a payment');
      expect(await page.locator('#question img').count()).toBe(0);
      const shown = (await page.locator('#question').textContent()) ?? '';
      expect(shown.indexOf('Quokka')).toBeGreaterThan(shown.indexOf('its creator gave'));
    });
  });

  test('by an app that logs in by OAuth is asked for in the same way, under the app’s name [ID-70, ID-79]', async () => {
    const app = await newTestApp(marketplace, { client_name: 'Budget" approved' });
    const tokens = await app.logIn(owner, { policy: { ask_above_lamports: 0 } });
    const agent = await connectMcp(tokens.access_token, {});
    const body = { ...request, task: 'Reconcile the data of the app.' };
    const use = async () => textOf(await agent.callTool({ name: 'run_agent', arguments: body }));
    const link = linkIn(await use());
    await loggedIn(link, async (page) => {
      await page.locator('dd > bdi', { hasText: /^Budget' approved$/ }).waitFor();
      await page.getByRole('button', { name: /^Approve up to / }).click();
      await saysIn(page, 'Approved.');
    });
    expect(await use()).toContain('totals');
  });

  test('over stdio with an API key gets the link, too, because the client cannot ask [ID-79]', async () => {
    const { key, body } = await askingKey();
    const agent = new ClientV1({ name: 'an-agent', version: '1.0.0' });
    const env = { AGENT_RENTAL_URL: marketplace.dev.base_url, AGENT_RENTAL_API_KEY: key };
    await agent.connect(new StdioClientTransport({ command: process.execPath, args: [BIN], env }));
    onTestFinished(() => agent.close());
    const use = async () =>
      textOf((await agent.callTool({ name: 'run_agent', arguments: body })) as { content: unknown });
    await approveOn(linkIn(await use()));
    expect(await use()).toContain('totals');
  });

  test('for a rental is refused when it is submitted, and a transaction signed anew goes on [ID-70]', async () => {
    const renter = await newParticipant(marketplace);
    const { key } = await createApiKey(renter.client, renter.signer, 'renting', {
      policy: { ask_above_lamports: 0 },
    });
    const client = createClient({ baseUrl: marketplace.dev.base_url, apiKey: key, retries: 0 });
    const { id } = marketplace.listing('one_time');
    const rentOnce = async (listing_id: string) => {
      const { transaction } = await client.createTransaction({ action: 'rent', listing_id });
      const signed = await renter.signer.signTransaction(Buffer.from(transaction, 'base64'));
      return client.submitTransaction(Buffer.from(signed).toString('base64'));
    };
    const refused = await rentOnce(id).catch((error: unknown) => error as { approval?: { url: string } });
    const url = 'approval' in refused ? refused.approval?.url : undefined;
    await loggedIn(
      url ?? '',
      async (page) => {
        await page.getByText('Your wallet, as price or deposit of a rental').waitFor();
        await page.getByRole('button', { name: /^Approve up to / }).click();
        await saysIn(page, 'Approved.');
      },
      { ...PHONE, as: renter },
    );
    expect(await rentOnce(id)).toMatchObject({ credential: { valid: true } });
  });

  test.each(looksOf('approvals'))(
    'has pages without a violation that axe knows of: %s [SVC-17, ID-79]',
    async (look) => {
      const { key, body } = await askingKey(look);
      const { body: refused } = await call(marketplace, 'POST', '/v1/execute', { token: key, body });
      const { id } = (refused['error'] as { approval: { id: string } }).approval;
      const options = { ...LOOKS[look], bypassCSP: true };
      const list = new URL('/dashboard/approvals', marketplace.dev.base_url).href;
      await loggedIn(
        list,
        async (page) => {
          await saysIn(page, 'Logged in as');
          await page
            .getByRole('banner')
            .getByText(/^\d[\d.]* SOL, \d+ open approvals?$/)
            .waitFor();
          await page.locator('dd > bdi', { hasText: new RegExp(`^${look}$`) }).waitFor();
          expect(await accessibilityViolations(page)).toEqual([]);
          await page.locator(`a[href="/dashboard/approvals/${id}"]`).click();
          await page.getByRole('button', { name: 'Refuse' }).waitFor();
          expect(await accessibilityViolations(page)).toEqual([]);
          await page.getByRole('button', { name: 'Refuse' }).click();
          await saysIn(page, 'Refused.');
          expect(await accessibilityViolations(page)).toEqual([]);
        },
        options,
      );
    },
  );
});
