import { publish, update } from '@agent-rental/sdk/solana';
import { Connection } from '@solana/web3.js';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  jobEnd,
  offlineModel,
  PRICE,
  publishProgram,
  rentAgent,
  textAgent,
} from '../support/agents/agents.js';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
} from '../support/browser/browser.js';
import { logIn, says, withWallet } from '../support/browser/wallet-page.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const RUNS = 3;
const SCRIPT = '<img src=x onerror="document.title=\'taken\'">';

describe.runIf(browserPath !== undefined)('on the pages of a creator, a wallet of the browser', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  let creator: Participant;
  /** An agent that was run, and has earned. */
  let earner: string;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    browser = await openBrowser();
    creator = await newParticipant(marketplace);
    earner = await publishProgram(marketplace, creator, 'return { n: 1 };');
    const renter = await newParticipant(marketplace);
    await rentAgent(renter, earner);
    for (let run = 0; run < RUNS; run += 1) {
      await renter.client.execute({ agent_id: earner, task: 'Go.', input: {} });
    }
  });
  /** An agent of two versions. */
  let versioned: { owner: Participant; id: string };
  beforeAll(async () => {
    const { owner, id } = await listed();
    const { job_id: jobId } = await owner.client.updateAgent(id, { description: 'Another description.' });
    const { next_action: next } = await jobEnd(owner.client, jobId);
    await update(owner.client, owner.signer, id, { metadata_uri: next?.body['metadata_uri'] as string });
    versioned = { owner, id };
  });
  afterAll(() => browser?.close());

  const pageOf = (id: string) => `/dashboard/creator/agents/${id}`;
  const visiting = (
    path: string,
    visit: Parameters<typeof withWallet>[2],
    { owner = creator, ...options }: BrowserContextOptions & { owner?: Participant } = {},
  ) => withWallet(browser, { marketplace, owner, path }, visit, options);

  /** Publishes an agent whose model is never asked, with a new creator. */
  const listed = async (fields: Record<string, unknown> = {}) => {
    const owner = await newParticipant(marketplace);
    const manifest = textAgent('https://agent.invalid/v1', fields);
    const { result } = await jobEnd(owner.client, (await owner.client.registerAgent(manifest)).job_id);
    const id = result?.listing_id ?? '';
    await publish(owner.client, owner.signer, id, { unverified: true });
    return { owner, id, manifest };
  };
  /** Opens a tab of the page of one agent. */
  const openTab = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'This agent' }).getByRole('link', { name, exact: true }).click();
  const fact = (page: Page, term: string) =>
    page
      .locator('#agent-facts dt', { hasText: term })
      .locator('xpath=following-sibling::dd[1]')
      .textContent();

  test('sees its agents and earnings, and withdraws to the lamport [ADP-11] [SVC-30]', async () => {
    const connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
    const earned = async () => (await creator.client.getEarnings()).earnings[0]?.withdrawable_lamports;
    // The price of each run, less the protocol's fee of 2.5%.
    const amount = (RUNS * PRICE * 975) / 1000;
    await expect.poll(earned).toBe(amount);
    await visiting('/dashboard/creator', async (page, wallet) => {
      await logIn(page);
      await page.locator('#agents').getByText(earner).waitFor();
      const before = await connection.getBalance(creator.wallet.publicKey);
      await page.getByRole('button', { name: new RegExp(`^Withdraw .* of ${earner}$`) }).click();
      await says(page, /^Withdrew 0\.\d+ SOL of /);
      const after = await connection.getBalance(creator.wallet.publicKey);
      // The wallet pays the network's fee of the one transaction.
      expect(after - before).toBe(amount - 5_000);
      expect(wallet.transactions).toBe(1);
      expect(await page.locator('#earnings').getByRole('button').count()).toBe(0);
    });
    expect(await earned()).toBe(0);
  });

  test('sees the runs of an agent with the reason of each failure, and its part of a new price [SVC-30]', async () => {
    const failing = await publishProgram(
      marketplace,
      creator,
      'await new Promise((end) => setTimeout(end, 60_000));',
    );
    const renter = await newParticipant(marketplace);
    await rentAgent(renter, failing);
    await renter.client.execute({
      agent_id: failing,
      task: 'SECRET-OF-THE-RENTER',
      input: {},
      timeout_seconds: 1,
    });
    await visiting(pageOf(failing), async (page) => {
      await logIn(page);
      await openTab(page, 'Runs');
      const cards = page.locator('#agent-runs li');
      await expect.poll(() => cards.count()).toBe(1);
      const { runs } = await creator.client.listAgentRuns(failing);
      const shown = (await cards.first().textContent()) ?? '';
      expect(shown).toMatch(/Failed, version 1, took \d+\.\d s\./);
      expect(shown).toContain(runs[0]?.failure?.message);
      expect(shown).toContain(runs[0]?.run_id);
      expect(await page.content()).not.toContain('SECRET-OF-THE-RENTER');
      await openTab(page, 'Price and sale');
      await page.locator('#price-form').getByLabel('Price in SOL').fill('0.0004');
      await page.getByText('You get 0.00039 SOL of 0.0004 SOL; the protocol keeps 2.5%.').waitFor();
    });
    await visiting(pageOf(earner), async (page) => {
      await logIn(page);
      await openTab(page, 'Runs');
      await expect
        .poll(() => page.locator('#agent-runs').getByText('Completed, version 1').count())
        .toBe(RUNS);
    });
  });

  test('of another creator sees nothing of them [SVC-30]', async () => {
    const owner = await newParticipant(marketplace);
    await visiting(
      pageOf(earner),
      async (page) => {
        await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
        await says(page, `You do not see it. This wallet has no agent ${earner}.`);
        expect(await page.locator('#logged-in').isHidden()).toBe(true);
      },
      { owner },
    );
    await visiting(
      '/dashboard/creator',
      async (page) => {
        await logIn(page);
        await page.getByText('You have no agents.').waitFor();
        expect(await page.content()).not.toContain(earner);
      },
      { owner },
    );
    const { job_id: job } = await creator.client.registerAgent(textAgent('https://agent.invalid/v1'));
    await visiting(
      `/dashboard/creator/publish?job=${job}`,
      async (page) => {
        await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
        await says(page, 'It was not registered. There is no such job.');
        expect(await page.locator('#publication').isHidden()).toBe(true);
      },
      { owner },
    );
    // The service sends the same page to every caller and for every id.
    const html = async (id: string) => (await fetch(new URL(pageOf(id), marketplace.dev.base_url))).text();
    const other = 'nothing-aaaaaa';
    const withoutNonce = (text: string) => text.replace(/nonce="[^"]*"/, '');
    expect(withoutNonce(await html(earner)).replaceAll(earner, other)).toBe(withoutNonce(await html(other)));
  });

  test('updates an agent, sees the differences of two versions, and goes back [SVC-30] [LST-47]', async () => {
    const { owner, id, manifest } = await listed({ description: `Line one.\n${SCRIPT}\nLine \u202ethree.` });
    const next = {
      ...manifest,
      description: `Line one.\nAnother line.\nLine \u202ethree.`,
      output_schema: { type: 'string', maxLength: 100 },
      listing: { ...manifest.listing, title: 'Renamed', price_lamports: 2 * PRICE },
    };
    await visiting(
      pageOf(id),
      async (page, wallet) => {
        await logIn(page);
        await openTab(page, 'Update');
        await page.getByLabel('Manifest', { exact: true }).fill(JSON.stringify({ ...next, description: 7 }));
        await page.getByRole('button', { name: 'Send this version' }).click();
        await says(page, 'It was not updated. See the faults of the manifest');
        expect(await page.locator('#manifest-wrong').textContent()).toMatch(/^description /);
        await page.getByLabel('Manifest', { exact: true }).fill(JSON.stringify(next));
        await page.getByRole('button', { name: 'Send this version' }).click();
        await says(page, 'Updated: the next run runs the new version.');
        // A message that confirms the change, and a transaction with the new document and price.
        expect(wallet.messages.at(-1)).toMatch(/^agent-rental: change where renters' data goes/);
        expect(wallet.transactions).toBe(1);
        expect(await fact(page, 'Version')).toBe('2');
        expect(await fact(page, 'Price')).toBe('0.0005 SOL per task');
        expect(await fact(page, 'Title')).toBe('Renamed');
        await openTab(page, 'Versions');
        await page.getByRole('button', { name: 'Compare' }).click();
        await says(page, 'See below how version 2 differs from version 1');
        const changes = page.locator('#version-changes');
        const description = changes.getByLabel('Changes of description');
        expect(await description.locator('del').allTextContents()).toEqual([`- ${SCRIPT}`]);
        expect(await description.locator('ins').allTextContents()).toEqual(['+ Another line.']);
        // A character that reorders text is shown as an escape.
        expect(await description.innerText()).toContain('Line \\u{202e}three.');
        expect(await changes.getByLabel('Changes of output_schema').innerText()).toContain(
          '+   "maxLength": 100',
        );
        expect(await changes.locator('h3').allTextContents()).toEqual(['description', 'output_schema']);
        await page.getByRole('button', { name: 'Go back to the first of the two' }).click();
        await says(page, 'Version 1 runs again, as the next version.');
        expect(await fact(page, 'Version')).toBe('3');
        expect(await page.title()).not.toBe('taken');
      },
      { owner },
    );
    const answer = await fetch(new URL(`/dashboard/listings/${id}`, marketplace.dev.base_url));
    const [, versions = ''] = /<h2 id="versions">(.*?)<\/table>/s.exec(await answer.text()) ?? [];
    const day = '\\d{4}-\\d\\d-\\d\\d';
    // Version 2 is a narrower output, and version 3 goes back: longer outputs may come.
    expect(versions.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(
        `3 ${day} Breaking: .* output_schema.maxLength has changed 2 ${day} Compatible with the version before 1 ${day} First version`,
      ),
    );
    const listing = await owner.client.getListing(id);
    expect(listing).toMatchObject({ version: 3, title: 'Renamed', price_lamports: 2 * PRICE });
    expect(listing.output_schema).toEqual(manifest.output_schema);
  });

  test('edits today’s values, sees the changes, and then sends them [SVC-30]', async () => {
    const { owner, id, manifest } = await listed({ description: `Line one.\n${SCRIPT}` });
    await visiting(
      `${pageOf(id)}?tab=update`,
      async (page) => {
        await logIn(page);
        const form = page.locator('#edit-form');
        const description = form.getByLabel('Description');
        expect(await description.inputValue()).toBe(`Line one.\n${SCRIPT}`);
        expect(await form.getByLabel('Sample output 1').inputValue()).toBe('An answer.');
        const send = page.getByRole('button', { name: 'Send these changes' });
        const show = page.getByRole('button', { name: 'Show the changes' });
        await show.click();
        await says(page, 'Nothing is changed.');
        expect(await send.isHidden()).toBe(true);
        await form.getByLabel('JSON Schema of the output').fill('{');
        await show.click();
        await says(page, 'Something is wrong: see beside the field.');
        await form.getByLabel('JSON Schema of the output').fill('{ "type": "string" }');
        await description.fill('Another line.');
        await form.getByLabel('README in Markdown').fill('# Read *me*');
        await form.getByLabel('What changed, for renters').fill(`Shorter. ${SCRIPT}`);
        await show.click();
        await says(page, 'See the changes below the form');
        const changes = page.locator('#edit-changes');
        expect(await changes.locator('h3').allTextContents()).toEqual([
          'description',
          'listing.readme',
          'version_notes',
        ]);
        expect(await changes.locator('del').allTextContents()).toEqual([
          '- Line one.',
          `- ${SCRIPT}`,
          '- ',
          '- ',
        ]);
        expect(await changes.locator('ins').allTextContents()).toEqual([
          '+ Another line.',
          '+ # Read *me*',
          `+ Shorter. ${SCRIPT}`,
        ]);
        expect((await owner.client.getListing(id)).description).not.toBe('Another line.');
        // A further change is to be seen before it is sent.
        await form.getByLabel('Title', { exact: true }).fill('Renamed');
        expect(await send.isHidden()).toBe(true);
        await show.click();
        await send.click();
        await says(page, 'Updated: the next run runs the new version.');
        expect(await fact(page, 'Title')).toBe('Renamed');
        expect(await page.title()).not.toBe('taken');
      },
      { owner },
    );
    expect(await owner.client.getListing(id)).toMatchObject({
      version: 2,
      title: 'Renamed',
      description: 'Another line.',
      readme: '# Read *me*',
      output_schema: manifest.output_schema,
      sample_output: ['An answer.'],
    });
    const { versions } = await owner.client.listVersions(id);
    expect(versions).toMatchObject([{ version: 2, notes: `Shorter. ${SCRIPT}` }, { version: 1 }]);
    const page = await fetch(new URL(`/dashboard/listings/${id}`, marketplace.dev.base_url));
    expect(await page.text()).toContain('Shorter. &lt;img');
  });

  test('moves between tabs without losing a text; the address, the browser’s back and a reload keep the tab [SVC-30]', async () => {
    const { owner, id } = versioned;
    await visiting(
      pageOf(id),
      async (page) => {
        await logIn(page);
        const shown = () =>
          page
            .locator('[data-panel]')
            .evaluateAll((all) =>
              all.filter((one) => !(one as HTMLElement).hidden).map((one) => one.getAttribute('data-panel')),
            );
        const current = () => page.locator('#tabs [aria-current=page]').allTextContents();
        expect([await shown(), await current()]).toEqual([['statistics'], ['Statistics']]);
        await openTab(page, 'Update');
        await page.getByLabel('Manifest', { exact: true }).fill('A text that is not sent.');
        await openTab(page, 'Reviews');
        expect([await shown(), await current()]).toEqual([['reviews'], ['Reviews']]);
        await page.goBack();
        expect([await shown(), await current()]).toEqual([['update'], ['Update']]);
        expect(await page.getByLabel('Manifest', { exact: true }).inputValue()).toBe(
          'A text that is not sent.',
        );
        await page.reload();
        await logIn(page);
        await expect.poll(shown).toEqual(['update']);
        expect(new URL(page.url()).search).toBe('?tab=update');
        await page.goto(new URL(`${pageOf(id)}?tab=%3Cscript%3E`, marketplace.dev.base_url).href);
        await logIn(page);
        await expect.poll(shown).toEqual(['statistics']);
      },
      { owner },
    );
  });

  test('changes a price, pauses, resumes and closes for ever [SVC-30]', async () => {
    const { owner, id } = await listed();
    const statusOf = async () => (await owner.client.getListing(id)).status;
    await visiting(
      pageOf(id),
      async (page, wallet) => {
        await logIn(page);
        await openTab(page, 'Price and sale');
        const price = page.locator('#price-form').getByLabel('Price in SOL');
        await price.fill('nothing');
        await page.getByRole('button', { name: 'Change the price' }).click();
        await says(page, 'The price was not changed. Type an amount of SOL');
        await price.fill('0.0004');
        await page.getByLabel('Minimum deposit in SOL', { exact: true }).last().fill('0.002');
        await page.getByRole('button', { name: 'Change the price' }).click();
        await says(page, 'The price is 0.0004 SOL now.');
        expect(await owner.client.getListing(id)).toMatchObject({
          price_lamports: 400_000,
          min_deposit_lamports: 2_000_000,
        });
        await page.getByRole('button', { name: 'Pause' }).click();
        await says(page, 'It is paused');
        expect(await statusOf()).toBe('paused');
        wallet.refuses = true;
        await page.getByRole('button', { name: 'Resume' }).click();
        await says(page, 'It was not resumed. The person said no.');
        wallet.refuses = false;
        await page.getByRole('button', { name: 'Resume' }).click();
        await says(page, 'It is active again.');
        expect(await statusOf()).toBe('active');
        // The browser asks for the box that says so.
        await page.getByRole('button', { name: 'Close', exact: true }).click();
        expect(await statusOf()).toBe('active');
        await page.getByLabel('Close it for ever').check();
        await page.getByRole('button', { name: 'Close', exact: true }).click();
        await says(page, 'It is closed for ever');
        expect(await statusOf()).toBe('closed');
        expect(await page.getByRole('button', { name: 'Pause' }).isHidden()).toBe(true);
      },
      { owner },
    );
  });

  test('finishes or deletes a draft, and is shown why an agent is not reached [SVC-30] [SVC-30]', async () => {
    const owner = await newParticipant(marketplace);
    const draftOf = async (name: string) => {
      const manifest = {
        ...textAgent('https://agent.invalid/v1', { name, ...(await offlineModel(marketplace)) }),
      };
      const { job_id: jobId } = await owner.client.registerAgent(manifest);
      return (await jobEnd(owner.client, jobId)).result?.listing_id ?? '';
    };
    const finished = await draftOf('finished');
    const deleted = await draftOf('deleted');
    await visiting(
      '/dashboard/creator',
      async (page) => {
        await logIn(page);
        expect(await page.locator('#agents').getByText('not published').count()).toBe(2);
        await page.locator('#agents').getByRole('link', { name: 'Finished' }).click();
        await logIn(page);
        await page.getByRole('button', { name: 'Publish', exact: true }).click();
        await says(page, `Published: ${finished} is active`);
        expect(await fact(page, 'Status')).toBe('active');
        await page.goto(new URL(pageOf(deleted), marketplace.dev.base_url).href);
        await logIn(page);
        await page.getByRole('button', { name: 'Delete this draft' }).click();
        await says(page, `The draft ${deleted} is deleted.`);
      },
      { owner },
    );
    const { agents } = await owner.client.listAgents();
    expect(agents.map(({ listing_id: id, status }) => [id, status])).toEqual([[finished, 'active']]);
    const unreached = await listed();
    await visiting(
      '/dashboard/creator',
      async (page) => {
        await logIn(page);
        await page.getByText(/^Published without having been reached/).waitFor();
      },
      { owner: unreached.owner },
    );
  });

  const seen = (['my agents', 'publish', 'one agent'] as const).flatMap((name) =>
    looksOf(name).map((look) => ({ look, name })),
  );
  test.each(seen)(
    'has no violation that axe knows of, and fits, in $look: $name [SVC-17]',
    async ({ look, name }) => {
      const { owner, id } = versioned;
      const paths = {
        'my agents': '/dashboard/creator',
        publish: '/dashboard/creator/publish',
        'one agent': pageOf(id),
      };
      const visit = async (page: Page) => {
        const found: unknown[] = [];
        await logIn(page);
        // Every collapsible part is open, and the form has errors.
        if (name === 'publish') {
          await page.getByRole('button', { name: 'Register this agent' }).click();
          await says(page, 'It was not registered.');
        }
        if (name === 'one agent') {
          const tabs = page.getByRole('navigation', { name: 'This agent' }).getByRole('link');
          for (const tab of await tabs.all()) {
            await tab.click();
            found.push(...(await accessibilityViolations(page)));
          }
          await openTab(page, 'Versions');
          await page.getByRole('button', { name: 'Compare' }).click();
          await says(page, 'See below how version 2 differs');
          found.push(...(await accessibilityViolations(page)));
          await openTab(page, 'Update');
          await page.getByLabel('Manifest', { exact: true }).fill('{}');
          await page.getByLabel('Title', { exact: true }).fill('A new title');
          await page.getByRole('button', { name: 'Show the changes' }).click();
        }
        await page.locator('details').evaluateAll((all) => all.map((one) => one.setAttribute('open', '')));
        const folder = process.env['SCREENSHOTS'];
        if (folder !== undefined) {
          const file = `${folder}/creator-${name.replace(' ', '-')}-${look}.png`;
          await page.screenshot({ path: file, fullPage: true });
        }
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
        expect([...found, ...(await accessibilityViolations(page))]).toEqual([]);
      };
      await visiting(paths[name], visit, { owner, ...LOOKS[look], bypassCSP: true });
    },
  );

  test('is used by keyboard alone [SVC-17]', async () => {
    const { owner, id } = await listed();
    await visiting(
      pageOf(id),
      async (page) => {
        const press = async (name: string) => {
          await page.getByRole('button', { name, exact: true }).focus();
          await page.keyboard.press('Enter');
        };
        await press('Log in with Test wallet');
        await says(page, 'Logged in as');
        await page.getByRole('link', { name: 'Price and sale' }).focus();
        await page.keyboard.press('Enter');
        await press('Pause');
        await says(page, 'It is paused');
        await press('Resume');
        await says(page, 'It is active again.');
        const price = page.locator('#price-form').getByLabel('Price in SOL');
        await price.focus();
        await page.keyboard.press('ControlOrMeta+A');
        await page.keyboard.type('0.0003');
        await page.keyboard.press('Tab');
        await page.keyboard.press('ControlOrMeta+A');
        await page.keyboard.type('0.0003');
        await page.keyboard.press('Enter');
        await says(page, 'The price is 0.0003 SOL now.');
      },
      { owner },
    );
  });
});
