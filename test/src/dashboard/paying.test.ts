import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
  sayDevnet,
} from '../support/browser/browser.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { rentOverHttp } from '../support/renter.js';
import { addTestWallet, type AskedWallet } from '../support/browser/test-wallet.js';

const MODELS = ['one_time', 'subscription', 'per_query'] as const;
const DAY_MS = 86_400_000;

describe.runIf(browserPath !== undefined)('on the page of a rental, a wallet of the browser', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const pageOf = (id: string) => new URL(`/dashboard/rent/${id}`, marketplace.dev.base_url).href;
  const status = (page: Page) => page.getByRole('status');

  /** Presses a button that pays, and waits for the payment. */
  async function press(page: Page, name: string | RegExp): Promise<void> {
    await page.getByRole('button', { name }).click();
    await expect.poll(() => status(page).textContent(), { timeout: 30_000 }).toMatch(/^Done: /);
  }

  /** Waits for the chain's next second: before it, a renewal by an equal window adds nothing. */
  async function untilRenewable({ client }: Participant, listing_id: string): Promise<void> {
    const request = { action: 'renew', listing_id, duration_seconds: 2_592_000, early: true } as const;
    await vi.waitFor(() => client.createTransaction(request), { timeout: 10_000, interval: 100 });
  }

  /** Opens a page with the wallet of a renter in it, and expects that nothing leads elsewhere. */
  async function withWallet(
    renter: Participant,
    visit: (page: Page, wallet: AskedWallet) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const wallet = await addTestWallet(page, renter.wallet, 'solana:localnet');
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(marketplace.dev.base_url)) complaints.push(request.url());
    });
    await visit(page, wallet);
    expect(complaints).toEqual([]);
    await context.close();
  }

  test.each(MODELS)('pays for a %s rental, and says so [SVC-19]', async (model) => {
    const renter = await newParticipant(marketplace);
    const { id } = marketplace.listing(model);
    await withWallet(renter, async (page, wallet) => {
      await page.goto(pageOf(id));
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      await expect.poll(() => status(page).textContent(), { timeout: 30_000 }).toMatch(/^Done: /);
      expect(wallet.transactions).toBe(1);
      expect(wallet.messages).toHaveLength(1);
    });
    expect(await renter.client.verifyCredential(id)).toMatchObject({ valid: true });
  });

  test('that signs after 40 s is asked once more, and the rental succeeds with nothing typed again [TXN-23]', async () => {
    const renter = await newParticipant(marketplace);
    const { id } = marketplace.listing('per_query');
    await withWallet(renter, async (page, wallet) => {
      await page.clock.install();
      await page.goto(pageOf(id));
      await page.getByLabel('Deposit in SOL').fill('0.02');
      wallet.nextWaitMs = 40_000;
      const told: string[] = [];
      await page.exposeFunction('told', (text: string) => void told.push(text));
      await page.evaluate(() => {
        const shown = document.querySelector('[role=status]') as HTMLElement;
        const { told: tell } = globalThis as unknown as { told(text: string): void };
        new MutationObserver(() => tell(shown.textContent)).observe(shown, {
          childList: true,
          subtree: true,
        });
      });
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      await expect.poll(() => status(page).textContent(), { timeout: 30_000 }).toMatch(/^Done: /);
      expect(wallet.transactions).toBe(2);
      expect(told.join(' ')).toContain('Nothing was paid yet. Test wallet asks you once more.');
    });
    expect(await renter.client.verifyCredential(id)).toMatchObject({ balance_lamports: 20_000_000 });
  });

  test('renews and tops up existing rentals by the chosen amount [SVC-19]', async () => {
    const renter = await newParticipant(marketplace);
    const subscription = marketplace.listing('subscription').id;
    const perQuery = marketplace.listing('per_query').id;
    await withWallet(renter, async (page) => {
      await page.goto(pageOf(subscription));
      await press(page, 'Pay with Test wallet');
      await page.goto(pageOf(subscription));
      await page.getByLabel('For').selectOption('7776000');
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      await page
        .getByText(/^Your rental ends on .*90 days from now move the end to .*, and add (59|60) of 90/)
        .waitFor();
      await page.getByText(/no deposit to the network/).waitFor();
      expect(await page.getByText('Full cost of a first rental').isVisible()).toBe(false);
      await press(page, /^Renew for 0\.\d+ SOL$/);
      await page.goto(pageOf(perQuery));
      await page.getByLabel('Deposit in SOL').fill('0.01');
      await press(page, 'Pay with Test wallet');
      await page.goto(pageOf(perQuery));
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      await page.getByText(/your balance is 0\.01 SOL/).waitFor();
      await page.getByLabel('Deposit in SOL').fill('0.02');
      await page.keyboard.press('Tab');
      await page.getByText(/A top-up of 0\.02 SOL makes it 0\.03 SOL/).waitFor();
      await press(page, 'Top up by 0.02 SOL');
    });
    const { credentials } = await renter.client.listCredentials();
    const renewed = credentials.find(({ listing_id: id }) => id === subscription);
    expect(Date.parse(renewed?.expires_at ?? '') - Date.now()).toBeGreaterThan(89 * DAY_MS);
    expect(await renter.client.verifyCredential(perQuery)).toMatchObject({ balance_lamports: 30_000_000 });
  });

  test.each(MODELS)(
    'pays no second time for a %s rental after the page is loaded again [SVC-19, TXN-24]',
    async (model) => {
      const renter = await newParticipant(marketplace);
      const { id } = marketplace.listing(model);
      await withWallet(renter, async (page, wallet) => {
        await page.goto(pageOf(id));
        await press(page, 'Pay with Test wallet');
        const rented = await renter.client.verifyCredential(id);
        if (model === 'subscription') await untilRenewable(renter, id);
        await page.goto(pageOf(id));
        await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
        const said = {
          one_time: 'You have rented this agent already.',
          subscription:
            /^Your rental ends on .*30 days from now move the end to .*, and add less than 1 of 30 days\./,
          per_query: /^You have rented this agent, and your balance is .* A top-up of /,
        }[model];
        await page.getByText(said).waitFor();
        expect(wallet.transactions).toBe(1);
        expect(await renter.client.verifyCredential(id)).toEqual(rented);
      });
    },
  );

  test('renews early by the button that says so, and by no other [TXN-24]', async () => {
    const renter = await newParticipant(marketplace);
    const { id } = marketplace.listing('subscription');
    await rentOverHttp(marketplace, renter, 'subscription');
    await untilRenewable(renter, id);
    await withWallet(renter, async (page, wallet) => {
      await page.goto(pageOf(id));
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      await page.getByRole('button', { name: /^Pay 0\.\d+ SOL for less than 1 of 30 days$/ }).waitFor();
      expect(await page.getByRole('button', { name: /^Pay|^Renew/ }).count()).toBe(1);
      wallet.refuses = true;
      await page.getByRole('button', { name: /for less than 1 of 30 days$/ }).click();
      await expect.poll(() => status(page).textContent()).toContain('The person said no.');
      wallet.refuses = false;
      await press(page, /for less than 1 of 30 days$/);
      expect(await status(page).textContent()).toContain('Done: the rental is renewed until');
      expect(wallet.transactions).toBe(1);
    });
  });

  test('that refuses, and an invalid deposit, rent nothing and tell the reason [SVC-19]', async () => {
    const renter = await newParticipant(marketplace);
    const { id } = marketplace.listing('per_query');
    await withWallet(renter, async (page, wallet) => {
      await page.goto(pageOf(id));
      const pay = page.getByRole('button', { name: 'Pay with Test wallet' });
      for (const [deposit, said] of [
        ['', 'Type an amount of SOL'],
        ['-1', 'Type an amount of SOL'],
        ['0.0000001', 'The deposit is at least'],
      ] as const) {
        await page.getByLabel('Deposit in SOL').fill(deposit);
        await pay.click();
        await expect.poll(() => status(page).textContent()).toContain(`Nothing was rented. ${said}`);
      }
      await page.getByLabel('Deposit in SOL').fill('0.01');
      await page.keyboard.press('Enter');
      wallet.refuses = true;
      await pay.click();
      await expect
        .poll(() => status(page).textContent())
        .toContain('Nothing was rented. The person said no.');
      expect(wallet.transactions).toBe(0);
      await page.getByRole('button', { name: 'Pay with Test wallet', disabled: false }).waitFor();
    });
  });

  test.each(looksOf('paying'))(
    'that is missing is reported, and the page has no violation that axe knows of, in %s [SVC-17]',
    async (look) => {
      const { id } = marketplace.listing('subscription');
      const context = await browser.newContext({ ...LOOKS[look], bypassCSP: true });
      const page = await context.newPage();
      await sayDevnet(page);
      await page.goto(pageOf(id));
      await expect
        .poll(() => status(page).textContent())
        .toContain('No Solana wallet was found in this browser');
      expect(await accessibilityViolations(page)).toEqual([]);
      await context.close();
    },
  );

  test('pays for an agent that asked over MCP without a wallet, whose next call then works [SVC-19]', async () => {
    const renter = await newParticipant(marketplace);
    const { id } = marketplace.listing('per_query');
    const client = new Client({ name: 'an-agent', version: '1.0.0' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
        requestInit: { headers: { authorization: `Bearer ${renter.token}` } },
      }),
    );
    const sample = await marketplace.request('per_query');
    const use = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
    const offered = await use('rent_listing', { agent_id: id });
    const { rent_url: url } = offered.structuredContent as { rent_url: string };
    expect((await use('run_agent', { ...sample, agent_id: id })).isError).toBe(true);
    await withWallet(renter, async (page) => {
      await page.goto(url);
      await page.getByText(/^Your link names 0\.\d+ SOL as the most in all/).waitFor();
      await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
      await expect.poll(() => status(page).textContent(), { timeout: 30_000 }).toMatch(/^Done: /);
    });
    expect((await use('run_agent', { ...sample, agent_id: id })).isError ?? false).toBe(false);
    await client.close();
  });
});
