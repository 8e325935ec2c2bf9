import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
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
import { newParticipant, type Participant } from '../support/participant.js';

describe.runIf(browserPath !== undefined)('on the page of API keys, a wallet of the browser', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  let owner: Participant;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    owner = await newParticipant(marketplace);
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  /** Opens the page and logs a wallet in. */
  async function loggedIn(
    visit: (page: Page, wallet: AskedWallet) => Promise<void>,
    options: BrowserContextOptions = {},
    // Without its policy the page is asked for an icon, too.
    expected = options.bypassCSP ? /status of 404/ : /^never$/,
  ): Promise<void> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    const wallet = await addTestWallet(page, owner.wallet, 'solana:localnet');
    await page.goto(new URL('/dashboard/keys', marketplace.dev.base_url).href);
    await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
    await saysIn(page, `Logged in as ${owner.signer.address}`);
    await visit(page, wallet);
    expect(complaints.filter((text) => !expected.test(text))).toEqual([]);
    await context.close();
  }

  const saysIn = (page: Page, text: string) =>
    expect.poll(() => page.getByRole('status').textContent(), { timeout: 15_000 }).toContain(text);
  const statusOf = async (key: string) =>
    (await call(marketplace, 'GET', '/v1/credentials', { token: key })).status;

  test('creates a key with limits that it signs, which works until it is revoked there [ID-40]', async () => {
    let key = '';
    await loggedIn(async (page, wallet) => {
      await page.getByText('You have no key.').waitFor();
      await page.getByLabel('Label').fill('my <agent>');
      await page.getByLabel('Limit per run, in SOL').fill('0.001');
      await page.getByLabel('Limit per 24 hours, in SOL').fill('0.05');
      await page.getByLabel('Ask me above, in SOL').fill('0.0005');
      await page.getByRole('button', { name: 'Create' }).click();
      await saysIn(page, 'The key was created. Copy it now');
      key = (await page.getByLabel('The new key').textContent()) ?? '';
      expect(await statusOf(key)).toBe(200);
      // The signed text names the rights of the key.
      expect(wallet.messages.at(-1)).toMatch(/my <agent>[^]*"max_day_lamports":50000000/);
      await page
        .getByText(
          'my <agent>: may run, rent; at most 0.001 SOL a run; at most 0.05 SOL a day; asks you above 0.0005 SOL.',
        )
        .waitFor();
    });
    expect((await owner.client.listApiKeys()).api_keys).toMatchObject([
      {
        label: 'my <agent>',
        policy: { max_run_lamports: 1_000_000, max_day_lamports: 50_000_000, ask_above_lamports: 500_000 },
      },
    ]);
    await loggedIn(async (page) => {
      // Shown once: a later visit knows its label alone.
      expect(await page.content()).not.toContain(key);
      page.once('dialog', (asked) => asked.accept());
      await page.getByRole('button', { name: 'Revoke my <agent>' }).click();
      await saysIn(page, 'The key my <agent> works no more.');
      await page.getByText('You have no key.').waitFor();
    });
    expect(await statusOf(key)).toBe(401);
  });

  test.each(looksOf('keys'))(
    'gives the configuration of each client, ready to be copied, and no violation that axe knows of, in %s [ID-40]',
    async (look) => {
      await loggedIn(
        async (page) => {
          await page.getByLabel('Label').fill('configured');
          await page.getByRole('button', { name: 'Create' }).click();
          await saysIn(page, 'The key was created.');
          const key = (await page.getByLabel('The new key').textContent()) ?? '';
          const names = await page.locator('#configurations summary').allTextContents();
          expect(names).toEqual([
            'Claude Code',
            'Claude Desktop',
            'Cursor',
            'VS Code',
            'LangChain and AI SDK',
            'curl',
          ]);
          for (const name of names) {
            await page.getByText(name, { exact: true }).click();
            expect(await page.getByLabel(`Configuration of ${name}`).textContent()).toContain(key);
          }
          expect(await page.getByLabel('Configuration of Cursor').textContent()).toContain(
            marketplace.dev.mcp_url,
          );
          expect(await accessibilityViolations(page)).toEqual([]);
        },
        { ...LOOKS[look], bypassCSP: true },
      );
    },
  );

  test('that refuses, and an invalid limit, create no key and tell the reason [ID-40]', async () => {
    const before = (await owner.client.listApiKeys()).api_keys.length;
    await loggedIn(async (page, wallet) => {
      await page.getByLabel('Label').fill('never');
      await page.getByLabel('Limit per run, in SOL').fill('lots');
      await page.getByRole('button', { name: 'Create' }).click();
      await saysIn(page, 'No key was created. Type an amount of SOL');
      await page.getByLabel('Limit per run, in SOL').fill('');
      wallet.refuses = true;
      await page.getByRole('button', { name: 'Create' }).click();
      await saysIn(page, 'No key was created. The person said no.');
    });
    expect((await owner.client.listApiKeys()).api_keys).toHaveLength(before);
  });
});
