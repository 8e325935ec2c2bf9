import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { browserPath, openBrowser } from '../support/browser/browser.js';
import { addTestWallet, type AskedWallet } from '../support/browser/test-wallet.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

describe.runIf(browserPath !== undefined)('the login of a browser', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  let owner: Participant;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    owner = await newParticipant(marketplace);
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const addressOf = (path: string) => new URL(path, marketplace.dev.base_url).href;
  const offerOf = (page: Page) => page.getByRole('button', { name: 'Log in with Test wallet' });

  /** Opens the dashboard and logs in there. */
  async function loggedIn(
    visit: (page: Page, wallet: AskedWallet, context: BrowserContext) => Promise<void>,
    options: { signsIn?: boolean } = {},
  ): Promise<void> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const wallet = await addTestWallet(page, owner.wallet, 'solana:localnet', options);
    await page.goto(addressOf('/dashboard'));
    await offerOf(page).click();
    await page.getByText('You have rented nothing yet.').waitFor();
    await visit(page, wallet, context);
    await context.close();
  }

  test('shows the other pages at once, and asks the wallet again only where it signs something [SVC-21]', async () => {
    await loggedIn(async (page, wallet) => {
      expect(wallet).toMatchObject({ connections: 1, transactions: 0 });
      expect(wallet.messages).toHaveLength(1);
      await page.goto(addressOf('/dashboard/runs'));
      await page.getByText('You have no runs yet.').waitFor();
      await page.goto(addressOf('/dashboard/keys'));
      await page.getByText('You have no key.').waitFor();
      expect(await offerOf(page).count()).toBe(0);
      expect(wallet).toMatchObject({ connections: 1 });
      expect(wallet.messages).toHaveLength(1);
      await page.getByLabel('Label').fill('of a kept login');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('of a kept login: may run, rent').waitFor();
      expect(wallet.messages).toHaveLength(2);
      expect(wallet.messages[1]).toContain('create API key "of a kept login"');
      // The page keeps the token of the login only: the new key is nowhere.
      const key = (await page.getByLabel('The new key').textContent()) ?? '';
      const kept = await page.evaluate<string>('JSON.stringify([{...sessionStorage}, {...localStorage}])');
      expect(kept).toContain('token');
      expect(key).toMatch(/^ark_/);
      expect(kept).not.toContain(key);
      page.once('dialog', (asked) => asked.accept());
      await page.getByRole('button', { name: 'Revoke of a kept login' }).click();
      await page.getByText('You have no key.').waitFor();
    });
  });

  test('is shared by its tabs, and is gone from all once one logs out [SVC-21]', async () => {
    await loggedIn(async (page, wallet, context) => {
      const other = await context.newPage();
      await addTestWallet(other, owner.wallet, 'solana:localnet');
      await other.goto(addressOf('/dashboard'));
      await other.getByText('You have rented nothing yet.').waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await offerOf(page).waitFor();
      expect(await page.evaluate("localStorage.getItem('agent-rental-login')")).toBeNull();
      await page.goto(addressOf('/dashboard/runs'));
      await offerOf(page).waitFor();
      await other.reload();
      await offerOf(other).waitFor();
      expect(wallet.messages).toHaveLength(1);
    });
  });

  test('is made by Sign In With Solana where the wallet offers it [SVC-21]', async () => {
    await loggedIn(
      async (page, wallet) => {
        expect(wallet.messages).toEqual([]);
        expect(wallet.signIns).toHaveLength(1);
        expect(wallet.signIns[0]).toMatch(/^127\.0\.0\.1:\d+ wants you to sign in with your Solana account:/);
        await page.goto(addressOf('/dashboard/keys'));
        await page.getByText('You have no key.').waitFor();
        expect(wallet.signIns).toHaveLength(1);
      },
      { signsIn: true },
    );
  });

  test('is asked for again once the service refuses it [SVC-21]', async () => {
    await loggedIn(async (page, wallet) => {
      const spoil = `localStorage.setItem('agent-rental-login', JSON.stringify({
        ...JSON.parse(localStorage.getItem('agent-rental-login')), token: 'of-another-time' }))`;
      await page.evaluate(spoil);
      await page.reload();
      await page.getByText('The login has ended. Log in again.').waitFor();
      await offerOf(page).click();
      await page.getByText('You have rented nothing yet.').waitFor();
      expect(wallet.messages).toHaveLength(2);
    });
  });
});
