import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Served } from '../marketplace.js';
import type { Participant } from '../participant.js';
import { addTestWallet, type AskedWallet, type WalletKind } from './test-wallet.js';

/** How long a transaction, or a job, may take on a busy machine. */
const DONE_MS = 30_000;

/**
 * Opens a page of the dashboard in a new context, with the wallet of a participant in it. Expects that the page makes no
 * request to another origin and does not break its policy.
 */
export async function withWallet(
  browser: Browser,
  {
    marketplace,
    owner,
    path,
    kind,
  }: { marketplace: Served; owner: Participant; path: string; kind?: WalletKind },
  visit: (page: Page, wallet: AskedWallet) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const { base_url: baseUrl } = marketplace.dev;
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(baseUrl)) complaints.push(request.url());
  });
  const wallet = await addTestWallet(page, owner.wallet, 'solana:localnet', kind);
  await page.goto(new URL(path, baseUrl).href);
  await visit(page, wallet);
  expect(complaints).toEqual([]);
  await context.close();
}

/** Logs the wallet of the page in, unless the tab is logged in. */
export async function logIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Log (?:in with Test wallet|out)$/ }).waitFor();
  const offer = page.getByRole('button', { name: 'Log in with Test wallet' });
  if (await offer.isVisible()) await offer.click();
  await says(page, 'Logged in as');
}

/** Waits until the page, or a part of it, says something. */
export async function says(part: Page | Locator, text: string | RegExp): Promise<void> {
  const said = () => part.getByRole('status').textContent();
  if (typeof text === 'string') await expect.poll(said, { timeout: DONE_MS }).toContain(text);
  else await expect.poll(said, { timeout: DONE_MS }).toMatch(text);
}
