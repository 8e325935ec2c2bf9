import { createApiKey } from '@agent-rental/sdk/solana';
import { verifyWebhook } from '@agent-rental/sdk';
import {
  findRunningPostgres,
  readBody,
  startHttpStandIn,
  startMailServer,
  type HttpStandIn,
  type MailServer,
} from '@agent-rental/server/testing';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
} from '../support/browser/browser.js';
import { addTestWallet } from '../support/browser/test-wallet.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

/** More than the page has places for the focus. */
const MOST_TABS = 90;

describe.runIf(browserPath !== undefined)('events of a wallet', () => {
  let browser: Browser;
  let stateDir: string;
  let mail: MailServer;
  let hook: HttpStandIn;
  let requests: { headers: Headers; body: string }[];
  let marketplace: OwnMarketplace;
  let owner: Participant;
  beforeAll(async () => {
    browser = await openBrowser();
    mail = await startMailServer();
    hook = await startHttpStandIn(async (request, response) => {
      const body = await readBody(request);
      requests.push({ headers: new Headers(request.headers as Record<string, string>), body });
      response.writeHead(204).end();
    });
    stateDir = await newStateDir();
    marketplace = await startMarketplace(stateDir, {
      EXAMPLES: 'off',
      ALLOW_LOOPBACK: hook.origin,
      SMTP_URL: mail.url,
      SMTP_FROM: 'Market <no-reply@market.example>',
    });
  });
  afterAll(async () => {
    await browser?.close();
    await marketplace?.stop();
    await Promise.all([mail?.close(), hook?.close()]);
    await removeStateDir(stateDir);
  });
  beforeEach(async () => {
    requests = [];
    owner = await newParticipant(marketplace);
  });

  const addressOf = (path: string) => new URL(path, marketplace.dev.base_url).href;
  const newKey = (label: string) => createApiKey(owner.client, owner.signer, label);
  const says = (page: Page, text: string) =>
    expect.poll(() => page.getByRole('status').textContent(), { timeout: 15_000 }).toContain(text);

  /** Brings the next round of messages forward, which begins each minute. */
  async function tellNow(): Promise<void> {
    const database = new Client({ connectionString: findRunningPostgres(stateDir) });
    await database.connect();
    await database.query(`select graphile_worker.add_job('tell_by_email')`);
    await database.end();
  }

  /** Opens a page of the dashboard with the owner's wallet logged in. */
  async function visit(path: string, look: (page: Page) => Promise<void>, options = {}): Promise<void> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    await addTestWallet(page, owner.wallet, 'solana:localnet');
    await page.goto(addressOf(path));
    await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await look(page);
    expect(complaints).toEqual([]);
    await context.close();
  }

  test('are counted by the bell until their page was seen, and told there in words, the newest first', async () => {
    for (let count = 1; count <= 30; count += 1) await newKey(`key ${count}`);
    await visit('/dashboard/keys', async (page) => {
      await page.getByRole('link', { name: 'Events, 30 new' }).click();
      await says(page, '24 events shown.');
      const told = page.locator('#list > li h3');
      expect(await told.first().textContent()).toBe('Your wallet has a new API key: key 30.');
      await page.getByRole('button', { name: 'Earlier events' }).press('Enter');
      await says(page, '30 events shown.');
      expect(await told.last().textContent()).toBe('Your wallet has a new API key: key 1.');
      expect(await page.locator('#list a').last().getAttribute('href')).toBe('/dashboard/keys');
      await page.getByLabel('Show').selectOption('Runs');
      await page.getByText('There is no event yet.').waitFor();
      await page.getByLabel('Show').selectOption('Account');
      await says(page, '24 events shown.');
      await newKey('later');
      await page.goto(addressOf('/dashboard/keys'));
      await page.getByRole('link', { name: 'Events, 1 new' }).waitFor();
    });
  });

  test('go to a webhook that the page adds, tests, pauses and removes, and each delivery can be sent again', async () => {
    await visit('/dashboard/events', async (page) => {
      await page.getByText('You have no webhook.').waitFor();
      await page.getByLabel('Address', { exact: true }).fill(`${hook.origin}/hear`);
      await page.getByRole('button', { name: 'Add' }).press('Enter');
      await says(page, 'The webhook was added.');
      const secret = (await page.getByLabel('The secret').textContent()) ?? '';
      expect(secret).toMatch(/^whsec_/);
      await page.getByRole('button', { name: 'Test now' }).click();
      await says(page, 'The test: answer 204');
      const [first] = requests;
      expect(verifyWebhook(first?.body ?? '', first?.headers ?? {}, secret)).toMatchObject({
        name: 'webhook.test',
      });
      await newKey('heard');
      await expect.poll(() => requests.map(({ body }) => body).join('')).toContain('heard');
      const deliveries = page.getByRole('button', { name: 'Deliveries' });
      await expect
        .poll(async () => {
          await deliveries.click();
          await says(page, 'shown.');
          return page.locator('#webhook-list .lines').textContent();
        })
        .toMatch(/key\.created, [^]*: Delivered\.[^]*answer 204/);
      const before = requests.length;
      await page.getByRole('button', { name: 'Send again: key.created' }).click();
      await says(page, 'The event is sent again.');
      await expect.poll(() => requests.length).toBe(before + 1);
      await page.getByRole('button', { name: 'Pause' }).click();
      await says(page, 'The webhook is paused.');
      await page.getByRole('button', { name: 'Resume' }).click();
      await says(page, 'The webhook goes on.');
      page.on('dialog', (asked) => void asked.accept());
      await page.getByRole('button', { name: 'New secret' }).click();
      await says(page, 'The webhook has a new secret.');
      expect(await page.getByLabel('The secret').textContent()).not.toBe(secret);
      await page.getByRole('button', { name: 'Remove: ' }).click();
      await says(page, 'The webhook is removed.');
      await page.getByText('You have no webhook.').waitFor();
    });
    expect((await owner.client.listWebhooks()).webhooks).toEqual([]);
  });

  test('go to a webhook by keyboard alone, and a screen reader tells each control by its name [SVC-17]', async () => {
    await visit('/dashboard/events', async (page) => {
      await page.getByText('You have no webhook.').waitFor();
      /** Goes on with Tab until a screen reader tells this role and name. */
      const tabTo = async (told: string) => {
        for (let presses = 0; presses < MOST_TABS; presses += 1) {
          await page.keyboard.press('Tab');
          const focused = page.locator(':focus');
          const found = (await focused.count()) > 0 ? await focused.ariaSnapshot() : '';
          // A name with a colon is in quotes.
          if (found.replace(/^- '?/, '').startsWith(told)) return;
        }
        throw new Error(`Tab does not lead to ${told}.`);
      };
      await tabTo('combobox "Show"');
      await tabTo('textbox "Address"');
      await page.keyboard.type(`${hook.origin}/keys`);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await tabTo('checkbox "The wallet has a new API key"');
      await page.keyboard.press('Space');
      await tabTo('button "Add"');
      await page.keyboard.press('Enter');
      await says(page, 'The webhook was added.');
      expect(await page.locator(':focus').ariaSnapshot()).toMatch(/^- group "The secret"/);
      await tabTo('button "Test now: http');
      await page.keyboard.press('Enter');
      await says(page, 'The test: answer 204');
    });
    const { webhooks } = await owner.client.listWebhooks();
    expect(webhooks).toMatchObject([{ url: `${hook.origin}/keys`, events: ['key.created'] }]);
  });

  test('go to an e-mail address whose reader confirms it, until it is removed', async () => {
    await visit('/dashboard/events', async (page) => {
      await page.getByText('You have set no address.').waitFor();
      await page.getByLabel('E-mail address').fill('ada@reader.example');
      const sent = mail.next();
      await page.getByRole('button', { name: 'Save' }).click();
      await says(page, 'A message was sent.');
      const [link = ''] = /http\S+\/email\/confirm\?\S+/.exec((await sent).parsed.text ?? '') ?? [];
      const message = await page.context().newPage();
      await message.goto(link);
      expect(await owner.client.getEmail()).toMatchObject({ confirmed: false });
      expect(await accessibilityViolations(message)).toEqual([]);
      await message.getByRole('button', { name: 'Confirm' }).click();
      await message.getByText('The address is confirmed.').waitFor();
      await page.reload();
      await page.getByText('ada@reader.example hears of your events.').waitFor();
      mail.refusal = { code: 550, words: '5.1.1 No such reader:' };
      await newKey('refused');
      await tellNow();
      await expect
        .poll(async () => (await owner.client.getEmail()).confirmed, { timeout: 20_000 })
        .toBe(false);
      mail.refusal = undefined;
      await page.reload();
      await page.getByText(/^The mail server refused ada@reader.example at /).waitFor();
      const [told] = await page.locator('#list > li h3').all();
      expect(await told?.textContent()).toBe(
        'The mail server refused your e-mail address. No more messages go there.',
      );
      page.on('dialog', (asked) => void asked.accept());
      await page.getByRole('button', { name: 'Remove the address' }).click();
      await says(page, 'The address is removed.');
    });
    expect(await owner.client.getEmail()).toEqual({ configured: true, confirmed: false });
  });

  test.each(looksOf('events'))('have a page without faults of accessibility: %s', async (look) => {
    await newKey('seen');
    await owner.client.createWebhook({ url: `${hook.origin}/look`, events: ['run.completed'] });
    await visit(
      '/dashboard/events',
      async (page) => {
        await page.getByText('Your wallet has a new API key: seen.').waitFor();
        for (const summary of await page.locator('summary').all()) await summary.click();
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(beyond).toBeLessThanOrEqual(0);
        // Its policy lets no test script in, so axe is loaded without it.
        expect(await accessibilityViolations(page)).toEqual([]);
      },
      { ...LOOKS[look], bypassCSP: true },
    );
  });
});
