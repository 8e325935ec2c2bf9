import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { PRICE, publishAgent, textAgent } from '../support/agents/agents.js';
import { accessibilityViolations, browserPath, LOOKS, openBrowser } from '../support/browser/browser.js';
import { sampleOf, SEED } from '../support/form.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';

const SCRIPT = '<script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'">';
const HOSTILE_TITLE = `Zebrafish" It costs 0 SOL \u202e${SCRIPT}`.slice(0, 115);
const HOSTILE = {
  description: `${SCRIPT}<a href="javascript:document.title='taken'">Press</a> ${'w'.repeat(2_000)} \u202eEnd.`,
  input_schema: {
    type: 'object',
    properties: { [SCRIPT]: { type: 'string', description: SCRIPT }, ['x'.repeat(200)]: {} },
    required: [SCRIPT],
  },
  listing: {
    rental_model: 'per_query',
    price_lamports: PRICE,
    title: HOSTILE_TITLE,
    sample_output: [SCRIPT, '</bdi></pre><form action="https://thief.example"><button>Rent</button></form>'],
  },
};

/** Records violations of the policy: the console misses those that the script catches. */
const KEEP_VIOLATIONS = `globalThis.violations = [];
  addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));`;

/** Pages that CI opens in each look; the full form opens all of them. */
const PAGES_OF_LOOK = 2;

let marketplace: Marketplace;
let hostile: string;
let creator: string;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  const publisher = await newParticipant(marketplace);
  creator = publisher.signer.address;
  hostile = await publishAgent(publisher, textAgent('https://agent.invalid/v1', HOSTILE), {
    unverified: true,
  });
}, 60_000);

const addressOf = (path: string) => new URL(path, marketplace.dev.base_url).href;
const ask = (path: string, accept: string) => fetch(addressOf(path), { headers: { accept } });
const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
const pages = () => [
  '/',
  '/?q=zebrafish',
  '/?q=zzzzzzzz',
  '/?sort=best',
  `/dashboard/listings/${hostile}`,
  `/dashboard/rent/${hostile}?max_total_lamports=12000000`,
  `/creators/${creator}`,
  '/dashboard/keys',
  '/dashboard/events',
  '/dashboard',
  '/dashboard/runs?status=completed',
  '/dashboard/runs/0f8fad5b-d9cb-469f-a165-70867728950e',
  '/dashboard/approvals',
  '/dashboard/approvals/nothing',
  '/dashboard/consent',
  '/dashboard/operator',
  '/dashboard/listings/nothing-aaaaaa',
  '/nothing/here',
  '/dashboard/creator',
  '/dashboard/creator/publish',
  `/dashboard/creator/agents/${hostile}`,
];

describe('the public pages', () => {
  test('load, run and frame nothing, and the first is small [SVC-17]', async () => {
    for (const path of pages()) {
      const answer = await ask(path, BROWSER);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      const html = await answer.text();
      const scripts = html.match(/<script[^>]*>/g) ?? [];
      const needsWallet = /^\/dashboard(?!\/listings\/nothing|\/consent)/.test(path);
      expect(scripts).toHaveLength(needsWallet ? 1 : 0);
      const nonce = /script-src 'nonce-([\w-]{22})'/.exec(policy)?.[1];
      for (const script of scripts) {
        expect(script).toMatch(
          /^<script type="module" src="\/dashboard\/assets\/pages\.js\?v=[\w-]{16}" nonce="/,
        );
        expect(script).toContain(`nonce="${nonce}"`);
      }
      expect(html).not.toMatch(
        /<img|<iframe|<link(?! rel="icon" href="data:)|<a [^>]*href="(?!\/|#|\?tab=|https?:)/,
      );
      expect(gzipSync(html).length).toBeLessThan(100_000);
    }
  });

  test('say an error as a page to a browser, and in the envelope to a program [SVC-17]', async () => {
    const path = '/dashboard/listings/nothing-aaaaaa';
    const shown = await ask(path, BROWSER);
    expect(shown.status).toBe(404);
    expect(await shown.text()).toMatch(/<h1>.*request <code>req_/s);
    for (const accept of ['*/*', 'application/json']) {
      const answer = await ask(path, accept);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: 'listing_not_found' } });
    }
    const unknown = await ask('/nothing/here', BROWSER);
    expect(unknown.status).toBe(404);
    expect(await unknown.text()).toContain('<h1>There is nothing to show</h1>');
    expect((await ask('/v1/nothing', BROWSER)).headers.get('content-type')).toContain('application/json');
    const refused = await ask('/?sort=best', BROWSER);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('sort: ');
    // A form sends its empty fields, and links from elsewhere have unknown parameters.
    expect((await ask('/?q=&category=&utm_source=x', BROWSER)).status).toBe(200);
  });

  test('describe the page to a link’s preview, in the service’s words [SVC-17]', async () => {
    const html = await (await ask(`/dashboard/rent/${hostile}`, BROWSER)).text();
    expect(html).toContain(`<meta property="og:title" content="Rent ${hostile}"/>`);
    expect(html).toContain('<meta property="og:description" content="It costs 0.00025 SOL, per task');
    expect(html).toContain(`<meta property="og:url" content="${addressOf(`/dashboard/rent/${hostile}`)}"/>`);
    const picture = addressOf(`/previews/${hostile}.png`);
    expect(html).toContain(`<meta property="og:image" content="${picture}"/>`);
    expect((await fetch(picture)).headers.get('content-type')).toBe('image/png');
  });
});

describe.runIf(browserPath !== undefined)('in a browser, the public pages', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  async function open(look: keyof typeof LOOKS, visit: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext(LOOKS[look]);
    const page = await context.newPage();
    const elsewhere: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(marketplace.dev.base_url)) elsewhere.push(request.url());
    });
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
    });
    await page.addInitScript(KEEP_VIOLATIONS);
    await visit(page);
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
    expect(await page.evaluate('violations')).toEqual([]);
    await context.close();
  }

  test.each([...(Object.keys(LOOKS) as (keyof typeof LOOKS)[]).entries()])(
    'have no violation that axe knows of, and fit, in look %i, %s [SVC-17]',
    { timeout: 120_000 },
    async (index, look) => {
      for (const path of sampleOf(pages(), PAGES_OF_LOOK, SEED + index)) {
        await open(look, async (page) => {
          await page.goto(addressOf(path));
          const folder = process.env['SCREENSHOTS'];
          if (folder !== undefined) {
            const name = path.replaceAll(/\W+/g, '-').slice(0, 20);
            await page.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: true });
          }
          expect(
            await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
          ).toBeLessThanOrEqual(0);
          expect(await page.title()).not.toBe('taken');
          // The test adds only axe's script: the page’s policy allows none.
          const context = await browser.newContext({ ...LOOKS[look], bypassCSP: true });
          const judged = await context.newPage();
          await judged.goto(addressOf(path));
          expect(await accessibilityViolations(judged), path).toEqual([]);
          await context.close();
        });
      }
    },
  );

  test('lead from a search to a listing and to its rental, by keyboard alone [SVC-17]', async () => {
    await open('phone', async (page) => {
      await page.goto(addressOf('/'));
      await page.getByRole('searchbox', { name: 'Search agents' }).focus();
      await page.keyboard.type('zebrafish');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /^1 agent for your search/ }).waitFor();
      await page.getByRole('link', { name: /^Zebrafish" It costs 0 SOL/ }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: /^Zebrafish"/ }).waitFor();
      expect(await page.getByText('It costs 0.00025 SOL').count()).toBe(0);
      expect(await page.getByRole('complementary', { name: 'Price' }).textContent()).toContain('0.00025 SOL');
      await page.getByRole('link', { name: 'Rent this agent' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: `Rent ${hostile}` }).waitFor();
    });
  });

  test('show a hostile listing as text: no script, form, link or button is its own [SVC-17]', async () => {
    await open('light', async (page) => {
      await page.goto(addressOf(`/dashboard/listings/${hostile}`));
      expect(await page.title()).not.toBe('taken');
      expect(await page.locator('img, iframe, a[href^="javascript" i]').count()).toBe(0);
      const all = (selector: string, attribute: string) =>
        page
          .locator(selector)
          .evaluateAll((found, name) => found.map((one) => one.getAttribute(name)), attribute);
      // For a visitor without a wallet.
      const advice = [
        'https://phantom.com/download',
        'https://www.solflare.com/download',
        'https://backpack.app/download',
        `/dashboard/listings/${hostile}`,
      ];
      // The page's scripts, forms and links, and nothing else.
      expect(await all('script', 'src')).toEqual([
        expect.stringMatching(/^\/dashboard\/assets\/pages\.js\?v=/),
      ]);
      expect(await all('form', 'id')).toEqual(['task-form', 'review-form', 'report-form']);
      expect(await all('main a:not([href^="#"])', 'href')).toEqual([
        expect.stringMatching(/^\/creators\/\w+$/),
        `/dashboard/rent/${hostile}`,
        ...advice,
        `/dashboard/rent/${hostile}`,
        '/dashboard/keys',
        ...advice,
        ...advice,
      ]);
      expect(await page.locator('#task-form').innerHTML()).toContain('&lt;script&gt;');
      expect(await page.locator('main').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(await page.getByLabel('Sample 1').innerText()).toContain('<script>');
    });
  });
});
