import { findRunningPostgres } from '@agent-rental/server/testing';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { createApiKey, rent } from '@agent-rental/sdk/solana';
import { Pool } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { PRICE, publishProgram, rentAgent } from '../support/agents/agents.js';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
} from '../support/browser/browser.js';
import { withWallet } from '../support/browser/wallet-page.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const RUNS = 6;
const DAY_LIMIT = 10 * PRICE;
const HOSTILE = `<img src=x onerror="document.title='taken'"> \u202e`;

describe.runIf(browserPath !== undefined)('the first page of a wallet', () => {
  let marketplace: Marketplace;
  let database: Pool;
  let browser: Browser;
  let renter: Participant;
  let creator: Participant;
  let agents: { used: string; low: string };
  /** By an API key with a daily limit, which began two of the runs. */
  let limited: RentalClient;
  /** The page where a key's question is answered. */
  let question: string;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    database = new Pool({ connectionString: findRunningPostgres(marketplace.stateDir), max: 2 });
    browser = await openBrowser();
    [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
    agents = {
      used: await publishProgram(marketplace, creator, 'return { n: 1 };'),
      low: await publishProgram(marketplace, creator, 'return { n: 2 };'),
    };
    await rentAgent(renter, agents.used);
    await rentAgent(renter, agents.low, 1);
    const terms = { duration_seconds: 2_592_000 } as const;
    await rent(renter.client, renter.signer, marketplace.listing('subscription').id, terms, {
      approve: () => true,
    });
    const clientOf = async (
      label: string,
      policy: { max_day_lamports?: number; ask_above_lamports?: number },
    ) => {
      const { key } = await createApiKey(renter.client, renter.signer, label, { policy });
      return createClient({ baseUrl: marketplace.dev.base_url, apiKey: key, retries: 0 });
    };
    limited = await clientOf('nightly', { max_day_lamports: DAY_LIMIT });
    const asking = await clientOf('asking', { ask_above_lamports: PRICE - 1 });
    for (let run = 0; run < RUNS; run += 1) {
      const { client } = run < 2 ? { client: limited } : renter;
      await client.execute({ agent_id: agents.used, task: `Run ${run}.`, input: {} });
    }
    await renter.client.execute({ agent_id: agents.low, task: 'The last one.', input: {} });
    const refused = await asking
      .execute({ agent_id: agents.used, task: 'May I?', input: {} })
      .catch((error: { approval?: { url: string } }) => error);
    question = new URL((refused as { approval?: { url: string } }).approval?.url ?? '').pathname;
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await database?.end();
  });

  const visiting = (owner: Participant, visit: (page: Page) => Promise<void>, options = {}) =>
    withWallet(
      browser,
      { marketplace, owner, path: '/dashboard' },
      async (page) => {
        await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
        await page.getByRole('button', { name: 'Log out' }).waitFor();
        await page.locator('#home-in').waitFor();
        await visit(page);
      },
      options,
    );

  test('has first what waits for an answer, then budgets, rentals, the last runs and spending [SVC-31]', async () => {
    // The subscription ends in three days.
    await database.query(
      `update credentials set expires_at = now() + interval '3 days' where buyer = $1 and rental_model = 'subscription'`,
      [renter.signer.address],
    );
    await visiting(renter, async (page) => {
      expect(await page.locator('#home-in h2').allTextContents()).toEqual([
        'Needs your attention',
        'Budgets',
        'Your rentals',
        'Last runs',
        'Spending',
      ]);
      const waiting = page.locator('#waiting li');
      const texts = await waiting.allTextContents();
      expect(texts).toHaveLength(3);
      expect(texts[0]).toMatch(/^Answer: up to 0\.00025 SOL\. One run of .*, until /);
      expect(await waiting.first().getByRole('link').getAttribute('href')).toBe(question);
      const ofLow = waiting.filter({ hasText: 'too low, top it up.' });
      expect(await ofLow.getByRole('link', { name: /^Top up / }).getAttribute('href')).toBe(
        `/dashboard/rent/${agents.low}`,
      );
      const ofEnding = waiting.filter({ hasText: /Ends \d/ });
      expect(await ofEnding.getByRole('link', { name: /^Renew / }).getAttribute('href')).toBe(
        `/dashboard/rent/${marketplace.listing('subscription').id}`,
      );
      const budgets = page.getByRole('region', { name: 'Budgets' }).locator('tbody tr');
      const row = (label: string) => budgets.filter({ hasText: label }).locator('th, td').allTextContents();
      // Two runs were its own.
      expect(await row('nightly')).toEqual(['nightly', '0.0025 SOL', '0.002 SOL', '0.0025 SOL']);
      expect(await row('asking')).toEqual(['asking', 'no limit', 'no limit', 'no limit']);
      const card = (id: string) => page.locator('#list > li').filter({ hasText: `Agent ${id}` });
      // 14 runs are left; 6 were in this week.
      await card(agents.used)
        .getByText(/^Lasts about 1[4-6] days at the spending of the last 7 days\.$/)
        .waitFor();
      expect(await card(agents.low).getByText('Lasts').count()).toBe(0);
      expect(await card(marketplace.listing('subscription').id).getByText('Lasts').count()).toBe(0);
      const { runs } = await renter.client.listRuns({ limit: 5 });
      expect(
        await page
          .locator('#last-runs a')
          .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
      ).toEqual(runs.map(({ run_id: id }) => `/dashboard/runs/${id}`));
      await page.getByText(/^Only \d{4}-\d\d-\d\d: 0\.00175 SOL\.$/).waitFor();
    });
  });

  test('is told of all runs of the wallet, and its API key of the runs that the key began [SVC-31]', async () => {
    const { sum } = await renter.client.getSpending();
    expect(sum).toEqual({
      completed: RUNS + 1,
      failed: 0,
      undelivered: 0,
      spent_lamports: (RUNS + 1) * PRICE,
    });
    const { sum: own, agents: ofKey } = await limited.getSpending({ window: '30d' });
    expect(own).toEqual({ completed: 2, failed: 0, undelivered: 0, spent_lamports: 2 * PRICE });
    expect(ofKey.map(({ listing_id: id }) => id)).toEqual([agents.used]);
    await expect(limited.getAgentsStats()).rejects.toMatchObject({ status: 403 });
  });

  test('says of a new wallet that there is nothing [SVC-31]', async () => {
    await visiting(await newParticipant(marketplace), async (page) => {
      for (const text of [
        'No key asks for a payment, and no rental is too low or near its end.',
        'You have no key and no app.',
        'You have rented nothing yet.',
        'There is no run yet.',
        'No run cost anything in this time.',
      ]) {
        await page.getByText(text).first().waitFor();
      }
      expect(await page.locator('svg.chart').count()).toBe(0);
    });
  });

  test('says an error of the service, and begins anew on request [SVC-17]', async () => {
    await visiting(renter, async (page) => {
      await page.route('**/v1/runs?**', (route) =>
        route.fulfill({ status: 502, json: { error: 'internal_error', message: 'It broke.' } }),
      );
      await page.reload();
      const again = page.getByRole('button', { name: 'Try again' });
      await again.waitFor();
      await expect
        .poll(() => page.getByRole('status').textContent())
        .toMatch(/^Your rentals cannot be shown\. /);
      expect(await page.locator('#home-in').isVisible()).toBe(false);
      await page.unrouteAll();
      await again.click();
      await page.locator('#home-in').waitFor();
      expect(await page.getByRole('status').textContent()).toBe('3 rentals.');
      expect(await again.count()).toBe(0);
    });
  });

  test('shows foreign words as text, in lists, budgets and charts [SVC-17]', async () => {
    await visiting(renter, async (page) => {
      const swap = (path: string, from: string) =>
        page.route(path, async (route) => {
          const body = await (await route.fetch()).text();
          const hostile = JSON.stringify(HOSTILE).slice(1, -1);
          await route.fulfill({ body: body.replaceAll(from, hostile), contentType: 'application/json' });
        });
      await swap('**/v1/api-keys', 'nightly');
      await swap('**/v1/credentials?**', 'Test agent');
      await swap('**/v1/spending?**', 'Test agent');
      await page.reload();
      await page.locator('#home-in').waitFor();
      await page.locator('figure svg.chart').first().waitFor();
      expect(await page.locator('#budgets').innerText()).toContain('<img src=x');
      expect(await page.locator('#waiting').innerText()).toContain('<img src=x');
      expect(await page.locator('figure svg.chart .labels').first().textContent()).toContain('<img src=x');
      expect(await page.locator('main').innerText()).not.toMatch(/\u202e/);
      expect(await page.locator('main img').count()).toBe(0);
      expect(await page.title()).not.toBe('taken');
    });
  });

  test.each(looksOf('home'))('fits, and has no violation that axe knows of, in %s [SVC-17]', async (look) => {
    await visiting(
      renter,
      async (page) => {
        const folder = process.env['SCREENSHOTS'];
        if (folder !== undefined)
          await page.screenshot({ path: `${folder}/waiting-${look}.png`, fullPage: true });
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
        expect(await accessibilityViolations(page)).toEqual([]);
      },
      { ...LOOKS[look], bypassCSP: true },
    );
  });

  test('of a creator has the agents first that do not work, with the reason [SVC-30]', async () => {
    const { agents: own } = await creator.client.listAgents();
    const oldest = own.at(-1)?.listing_id ?? '';
    await withWallet(browser, { marketplace, owner: creator, path: '/dashboard/creator' }, async (page) => {
      await page.route('**/v1/agents?**', async (route) => {
        const body = (await (await route.fetch()).json()) as { agents: { listing_id: string }[] };
        const failing = { failing_since: '2026-01-05T02:00:00.000Z' };
        const changed = body.agents.map((one) => (one.listing_id === oldest ? { ...one, ...failing } : one));
        await route.fulfill({ json: { ...body, agents: changed } });
      });
      await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
      const cards = page.locator('#agents > li');
      await cards.first().waitFor();
      expect(await cards.first().innerText()).toContain(oldest);
      await cards
        .first()
        .getByText('It fails at night, and renters are told so, since 2026-01-05.')
        .waitFor();
      expect(await cards.count()).toBe(own.length);
      expect(await page.locator('#logged-in h2').allTextContents()).toEqual([
        'Earnings',
        'Agents',
        'Withdraw earnings',
      ]);
    });
  });
});
