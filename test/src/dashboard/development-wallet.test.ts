import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { publishProgram } from '../support/agents/agents.js';
import { browserPath, openBrowser, sayDevnet } from '../support/browser/browser.js';
import { addTestWallet } from '../support/browser/test-wallet.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';

const NAME = 'Development wallet (test money)';
const PAID_MS = 30_000;

describe.runIf(browserPath !== undefined)('a newcomer without a wallet', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const addressOf = (path: string) => new URL(path, marketplace.dev.base_url).href;
  const saysIn = (page: Page, text: string) =>
    expect.poll(() => page.getByRole('status').textContent(), { timeout: PAID_MS }).toContain(text);

  test('rents an agent, runs it by its form and verifies the receipt, from nothing [SVC-21, SVC-23, ADP-12]', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(marketplace.dev.base_url)) complaints.push(request.url());
    });
    const { id, sample_task: task } = marketplace.listing('per_query');

    await page.goto(addressOf('/?q=expen'));
    await page.locator(`a[href="/dashboard/listings/${id}"]`).click();
    await page.getByRole('link', { name: 'Rent this agent' }).first().click();
    const next = page.getByLabel('Your first run').locator('[aria-current=step]');
    expect(await next.textContent()).toBe('Choose a wallet');
    await page.getByRole('button', { name: `Pay with ${NAME}` }).click();
    await saysIn(page, 'Done: the rental is paid and works.');
    expect(await next.textContent()).toBe('Run it');

    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByText('Balance 0.').waitFor();
    await page.getByRole('link', { name: `Run: ${id}` }).click();
    await page.getByText('You have rented it: a run takes').waitFor();
    await page.getByLabel('Task, in plain language').fill(task);
    await page.getByRole('button', { name: 'Use the example' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await saysIn(page, 'The run is completed.');
    const output = JSON.parse(
      (await page.getByLabel('Output', { exact: true }).textContent()) ?? '',
    ) as unknown;
    expect(output).toMatchObject({ ok: true, lines_counted: 2 });
    expect(await page.locator('.tour li.done').count()).toBe(3);

    await page.getByRole('link', { name: 'This run, with its receipt' }).click();
    await page.getByRole('definition').getByText('Completed').waitFor();
    await page.getByRole('button', { name: 'Verify the receipt' }).click();
    await saysIn(page, 'The receipt is right.');
    const verified = await page.locator('#verified').innerText();
    expect(verified).toMatch(/Signature: a key of this service .* ended as completed/);
    expect(verified).toMatch(/Charge: transaction \w+, signed by \w+, takes 0\.\d+ SOL from your balance/);
    expect(verified).toContain('Output: the output above is the one whose digest was signed.');
    expect(verified).toMatch(/Not checked by this page[^]*solana confirm -v/);
    // After a first run, no page shows the way to one.
    await page.goto(addressOf(`/dashboard/listings/${id}`));
    await page.getByText('You have rented it: a run takes').waitFor();
    expect(await page.getByLabel('Your first run').isVisible()).toBe(false);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('reaches the output of a first run in 6 clicks and a minute, typing nothing [SVC-21, SVC-23]', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const { id, title } = marketplace.listing('per_query');
    const began = Date.now();
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks += 1;
      await target.click();
    };
    // Other tests have published agents, so the first page need not have this one.
    await page.goto(addressOf(`/?q=${encodeURIComponent(title)}`));
    await click(page.locator(`a[href="/dashboard/listings/${id}"]`));
    await click(page.getByRole('link', { name: 'Rent this agent' }).first());
    await click(page.getByRole('button', { name: `Pay with ${NAME}` }));
    await click(page.getByRole('link', { name: 'Run it now' }));
    await click(page.getByRole('button', { name: 'Use the example' }));
    await click(page.getByRole('button', { name: 'Run', exact: true }));
    await saysIn(page, 'The run is completed.');
    expect(await page.getByLabel('Output', { exact: true }).textContent()).not.toBe('');
    expect(clicks).toBeLessThanOrEqual(6);
    expect(Date.now() - began).toBeLessThan(60_000);
    await context.close();
  });

  test('has a free first run as a guest of this tab, where the service would give it one [SVC-21, SVC-23]', async () => {
    const creator = await newParticipant(marketplace);
    const publish = (free_trial: boolean | 'renters') =>
      publishProgram(marketplace, creator, "return { said: 'Hello.' };", {
        listing: { sample_output: ['{}'], free_trial },
        input_schema: {},
      });
    const [id, forRenters] = [await publish(true), await publish('renters')];
    const context = await browser.newContext();
    const page = await context.newPage();
    const guest = page.getByRole('button', { name: 'Try it without a wallet' });
    await page.goto(addressOf(`/dashboard/listings/${forRenters}`));
    await page
      .getByRole('button', { name: `Log in with ${NAME}` })
      .first()
      .waitFor();
    expect(await guest.count()).toBe(0);

    await page.goto(addressOf(`/dashboard/listings/${id}`));
    await guest.click();
    await page.getByText('The first run of your wallet is free').waitFor();
    await page.getByLabel('Task, in plain language').fill('Say it.');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('It cost a free first run.').waitFor();
    await page.getByRole('link', { name: 'This run, with its receipt' }).click();
    await page.getByText('A free first run').waitFor();

    // Another tab is no guest; a person with a wallet is asked to use it.
    const other = await context.newPage();
    await other.goto(addressOf('/dashboard/runs'));
    await other.getByRole('button', { name: `Log in with ${NAME}` }).waitFor();
    await addTestWallet(other, creator.wallet, 'solana:localnet');
    await other.goto(addressOf(`/dashboard/listings/${id}`));
    await other.getByRole('button', { name: 'Log in with Test wallet' }).first().waitFor();
    expect(await other.getByRole('button', { name: 'Try it without a wallet' }).count()).toBe(0);
    await context.close();
  });

  test('has no development wallet on another network than the local one [SVC-21]', async () => {
    const page = await browser.newPage();
    await sayDevnet(page);
    await page.goto(addressOf('/dashboard/keys'));
    await saysIn(page, 'No Solana wallet was found in this browser.');
    expect(await page.getByRole('button').count()).toBe(0);
    await page.getByText('A wallet is an app that keeps your money on Solana.').waitFor();
    for (const name of ['Phantom', 'Solflare', 'Backpack']) {
      expect(await page.getByRole('link', { name }).getAttribute('target')).toBe('_blank');
    }
    await page.getByRole('link', { name: 'load this page again' }).click();
    await saysIn(page, 'No Solana wallet was found in this browser.');
    await page.unrouteAll();
    await page.goto(addressOf('/dashboard/keys'));
    await page.getByRole('button', { name: `Log in with ${NAME}` }).waitFor();
    await page.close();
  });
});
