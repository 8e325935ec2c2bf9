import { createApiKey, update } from '@agent-rental/sdk/solana';
import { PNG } from 'pngjs';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobEnd, publishProgram, rentAgent } from '../support/agents/agents.js';
import { browserPath, LOOKS, openBrowser } from '../support/browser/browser.js';
import { withWallet } from '../support/browser/wallet-page.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const TAKE = `document.title='taken'`;
const MARKUP = `<img src=x onerror="${TAKE}">`;
const SVG = `<svg onload="${TAKE}"><script>${TAKE}</script></svg>`;
const LINKS = `<a href="javascript:${TAKE}">a</a> [b](javascript:${TAKE}) [c](data:text/html,<script>${TAKE}</script>)`;
const WORD = 'w'.repeat(10_000);
const TITLE = `${MARKUP}\u202e${'W'.repeat(60)}`;
const README = [
  `# ${MARKUP} \u202e`,
  SVG,
  LINKS,
  '![d](data:image/svg+xml;base64,PHN2Zy8+) ![e](https://thief.example/p.png)',
  `| ${'h'.repeat(300)} | b |\n| --- | --- |\n| ${MARKUP} | ${SVG} |`,
  `\`\`\`\n${WORD.slice(0, 2_000)}\n\`\`\``,
  '> '.repeat(200) + 'deep',
  Array.from({ length: 60 }, (_, depth) => `${'  '.repeat(depth)}- item`).join('\n'),
  WORD,
].join('\n\n');
const SCHEMA = {
  type: 'object',
  properties: {
    [MARKUP]: { type: 'string', description: `${SVG} \u202e` },
    kind: { enum: ['plain', SVG], description: WORD.slice(0, 2_000) },
  },
};
const PROGRAM = `return ${JSON.stringify({ [MARKUP]: SVG, rows: [{ a: LINKS, [WORD.slice(0, 300)]: `\u202e${WORD}` }] })};`;
/** Of every page; a page with the script has its nonce as well. */
const POLICY =
  /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'(?:; script-src 'nonce-[\w-]{22}')?$/;

/** The elements that leave the page to the right and have no scroll bar. */
const OUTSIDE = `[...document.querySelectorAll('main *')].filter((one) => {
  if (one.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let box = one.parentElement; box; box = box.parentElement)
    if (getComputedStyle(box).overflowX !== 'visible') return false;
  return true;
}).map(({ tagName, className }) => tagName + ' ' + className)`;

/** The elements of a page that a stranger's markup has made. */
const FOREIGN = `[
  ...document.querySelectorAll('img:not(.agent-icon), iframe, object, embed, base, body script, body style'),
  ...document.querySelectorAll('a[href^="javascript:" i], a[href^="data:" i], form[action*="//"], [srcdoc]'),
  ...[...document.querySelectorAll('*')].filter((one) => [...one.attributes].some(({ name }) => name.startsWith('on'))),
].map(({ outerHTML }) => outerHTML.slice(0, 200))`;

describe.runIf(browserPath !== undefined)('the words of a hostile listing', () => {
  let stateDir: string;
  let marketplace: OwnMarketplace;
  let browser: Browser;
  let creator: Participant;
  let renter: Participant;
  let id: string;
  let runId: string;
  beforeAll(async () => {
    // Not the shared one, whose first page has no picture.
    stateDir = await newStateDir();
    marketplace = await startMarketplace(stateDir);
    browser = await openBrowser();
    [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
    await creator.client.updateCreator({ display_name: MARKUP });
    const icon = PNG.sync.write(new PNG({ width: 64, height: 64 })).toString('base64');
    const said = {
      title: TITLE,
      readme: README,
      sample_output: [SVG, WORD.slice(0, 4_000), '{"a":1}'],
      icon,
    };
    id = await publishProgram(marketplace, creator, PROGRAM, {
      listing: said,
      input_schema: SCHEMA,
    });
    await rentAgent(renter, id);
    runId = (await renter.client.execute({ agent_id: id, task: 'Go.', input: {} })).run_id;
    await renter.client.createReview(id, {
      rating: 1,
      comment: `${MARKUP} ${LINKS} \u202e${WORD.slice(0, 1_500)}`,
    });
    await creator.client.answerReview(id, renter.signer.address, `${SVG} \u202e${WORD.slice(0, 800)}`);
    const breaking = {
      description: `${MARKUP} ${SVG} ${LINKS} \u202e ${WORD.slice(0, 3_000)}`,
      input_schema: { ...SCHEMA, required: [MARKUP] },
    };
    const { job_id: jobId } = await creator.client.updateAgent(id, breaking);
    const { next_action: next } = await jobEnd(creator.client, jobId);
    await update(creator.client, creator.signer, id, { metadata_uri: next?.body['metadata_uri'] as string });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await marketplace?.stop();
    await removeStateDir(stateDir);
  });

  /** Opens a page of a wallet that is logged in, and expects that the words in it are text. */
  async function look(page: Page, path: string, ready: string, act?: () => Promise<void>): Promise<void> {
    const answer = await page.goto(new URL(path, marketplace.dev.base_url).href);
    expect(answer?.headers()['content-security-policy'], path).toMatch(POLICY);
    const main = page.locator('main');
    await main.getByText(ready).first().waitFor();
    await act?.();
    expect(await main.innerText(), path).toContain('<img src=x onerror=');
    expect(await main.innerText(), path).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(await page.evaluate(FOREIGN), path).toEqual([]);
    expect(await page.title(), path).not.toBe('taken');
    expect(await page.evaluate(OUTSIDE), path).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0);
  }

  /** The pages of a wallet, opened in one tab, on a phone: the narrowest box. */
  const visiting = (owner: Participant, visit: (page: Page) => Promise<void>) =>
    withWallet(
      browser,
      { marketplace, owner, path: '/dashboard' },
      async (page) => {
        await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
        await page.getByRole('button', { name: 'Log out' }).waitFor();
        await visit(page);
      },
      LOOKS.phone,
    );

  test('are text on each page that a renter sees them on [SVC-17]', async () => {
    await visiting(renter, async (page) => {
      await look(page, '/?sort=newest', '<img src=x');
      await look(page, `/creators/${creator.signer.address}`, '<img src=x');
      await look(page, `/dashboard/listings/${id}`, 'You have rented it');
      expect(await page.locator('.readme').innerText()).toContain('wwww');
      expect(await page.locator('article.review').innerText()).toContain('<svg onload=');
      expect(await page.locator('.versions').innerText()).toContain('<img src=x');
      await look(page, `/dashboard/rent/${id}`, '<img src=x');
      await look(page, '/dashboard', 'Spent on runs by agent');
      await look(page, `/dashboard/runs/${runId}`, 'Completed');
      await createApiKey(renter.client, renter.signer, `${MARKUP} \u202e`);
      await look(page, '/dashboard/events', 'Your wallet has a new API key: <img src=x');
    });
  });

  test('are text on the page of events, and the bell beside it has a number alone [SVC-17]', async () => {
    await visiting(creator, async (page) => {
      const hostile = async (route: Route) => {
        const body = (await (await route.fetch()).json()) as { events: { data: object }[] };
        const events = body.events.map((event) => ({
          ...event,
          data: { ...event.data, listing_id: `${MARKUP}\u202e` },
        }));
        await route.fulfill({ json: { ...body, events } });
      };
      await page.route('**/v1/events?**', hostile);
      await look(page, '/dashboard/events', 'has a review with 1 of 5 stars', async () => {
        await page.getByRole('link', { name: 'Events', exact: true }).first().waitFor();
      });
      await page.goto(new URL('/dashboard/keys', marketplace.dev.base_url).href);
      await expect
        .poll(() => page.locator('#bell').getAttribute('aria-label'))
        .toMatch(/^Events(, \d+ new)?$/);
      // The bell asks again until the page ends.
      await page.unrouteAll({ behavior: 'wait' });
    });
  });

  test('are text on each page that their creator sees them on [SVC-17] [SVC-30]', async () => {
    const own = `/dashboard/creator/agents/${id}`;
    await visiting(creator, async (page) => {
      await look(page, '/dashboard/creator', '<img src=x');
      await look(page, own, 'Status');
      await look(page, `${own}?tab=versions`, 'Status', async () => {
        await page.getByRole('button', { name: 'Compare' }).click();
        await page.getByLabel('Changes of input_schema').waitFor();
      });
      await look(page, `${own}?tab=update`, 'Status', async () => {
        await page.getByLabel('Title').first().fill(`${MARKUP} \u202e`);
        await page.getByRole('button', { name: 'Show the changes' }).click();
        await page.getByLabel('Changes of listing.title').waitFor();
      });
      await look(page, `${own}?tab=reviews`, 'Status');
    });
  });
});
