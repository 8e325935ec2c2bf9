import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { publishProgram, rentAgent } from '../support/agents/agents.js';
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

const HOSTILE = `<script>document.title='taken'</script> \u202e It costs 0 SOL. ${'w'.repeat(1_500)}`;

describe.runIf(browserPath !== undefined)('on the page of a listing, a wallet of the browser', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  let agent: string;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    browser = await openBrowser();
    agent = await publishProgram(marketplace, await newParticipant(marketplace), 'return { n: 1 };');
  });
  afterAll(() => browser?.close());

  const visiting = (
    owner: Participant,
    visit: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ) => withWallet(browser, { marketplace, owner, path: `/dashboard/listings/${agent}` }, visit, options);

  async function review(page: Page, rating: string, comment: string): Promise<void> {
    await page.getByText('Have you run it? Review it').click();
    await page.getByLabel('Rating').selectOption(rating);
    await page.getByLabel('Comment').fill(comment);
    await page.getByRole('button', { name: 'Review with Test wallet' }).click();
  }

  test('that ran it reviews it, and replaces the review; its text is shown as text [ADP-11] [SVC-23]', async () => {
    const renter = await newParticipant(marketplace);
    await rentAgent(renter, agent);
    await renter.client.execute({ agent_id: agent, task: 'Go.', input: {} });
    await visiting(renter, async (page) => {
      await review(page, '2', 'At first.');
      await says(page.locator('#review'), 'Your review is published.');
      await page.reload();
      await page.getByRole('img', { name: 'Rated 2 of 5' }).waitFor();
      await page.getByText('At first.').waitFor();
      await review(page, '4', HOSTILE);
      await says(page.locator('#review'), 'Your review is published.');
      await page.reload();
      await page.getByRole('img', { name: 'Rated 4 of 5' }).waitFor();
      expect(await page.title()).not.toBe('taken');
      expect(await page.locator('main script').count()).toBe(0);
      const shown = (await page.locator('article.review').last().innerText()) ?? '';
      expect(shown).toContain("<script>document.title='taken'</script>");
      expect(shown).not.toMatch(/[\u202a-\u202e]/);
      expect(shown.length).toBeLessThan(1_100);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    });
    const { reviews } = await renter.client.listReviews(agent);
    expect(reviews).toMatchObject([{ rating: 4, reviewer: renter.signer.address }]);
    expect(await renter.client.getListing(agent)).toMatchObject({ rating: 4, review_count: 1 });
  });

  test('reports it to the operator with a reason, and later once more [OPS-113] [SVC-23]', async () => {
    const reporter = await newParticipant(marketplace);
    await visiting(reporter, async (page) => {
      await page.getByText('Report it to the operator').click();
      await page.locator('#report').getByLabel('Reason').selectOption('It is illegal');
      await page.getByLabel('What happened, for the operator alone').fill(HOSTILE);
      await page.getByRole('button', { name: 'Report with Test wallet' }).click();
      await says(page.locator('#report'), 'The operator has your report.');
    });
    const open = await reporter.client.createReport(agent, { reason: 'illegal', text: 'More.' });
    expect(Date.parse(open.created_at)).toBeLessThan(Date.now() - 1);
  });

  test('that created the agent answers its review, changes and removes the answer [LST-45] [SVC-30]', async () => {
    const [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
    const id = await publishProgram(marketplace, creator, 'return { n: 1 };');
    await rentAgent(renter, id);
    await renter.client.execute({ agent_id: id, task: 'Go.', input: {} });
    await renter.client.createReview(id, { rating: 2, comment: HOSTILE });
    const answers = async () =>
      (await renter.client.listReviews(id)).reviews.map(({ answer }) => answer?.text);
    const path = `/dashboard/creator/agents/${id}?tab=reviews`;
    await withWallet(browser, { marketplace, owner: creator, path }, async (page) => {
      await logIn(page);
      const review = page.locator('#review-list article');
      expect(await review.innerText()).toContain("<script>document.title='taken'</script> It costs");
      await review.getByLabel('Your answer to wallet').fill(`It is ${HOSTILE.slice(0, 100)}`);
      await review.getByRole('button', { name: 'Answer', exact: true }).click();
      await says(page, 'Your answer is published');
      expect(await answers()).toEqual([expect.stringContaining("It is <script>document.title='taken'")]);
      const shown = await page.context().newPage();
      await shown.goto(new URL(`/dashboard/listings/${id}`, marketplace.dev.base_url).href);
      await shown.getByText(/^Answer of the creator, [-\d]+$/).waitFor();
      expect(await shown.locator('.answer').innerText()).toContain("It is <script>document.title='taken'");
      expect(await shown.locator('.bars li').allInnerTexts()).toEqual(
        ['5 stars', '4 stars', '3 stars', '2 stars', '1 star'].map((stars, index) =>
          expect.stringMatching(new RegExp(`^${stars}\\s+${index === 3 ? 1 : 0}$`)),
        ),
      );
      await review.getByLabel('Your answer to wallet').fill('Faster now.');
      await review.getByRole('button', { name: 'Change the answer' }).click();
      await expect.poll(answers).toEqual(['Faster now.']);
      await review.getByRole('button', { name: 'Remove the answer' }).click();
      await says(page, 'The answer was removed.');
      await review.getByLabel('Your answer to wallet').fill(' ');
      await review.getByRole('button', { name: 'Answer', exact: true }).click();
      await says(page, 'The answer was not published. text: it has nothing to read.');
      expect(await page.title()).not.toBe('taken');
    });
    expect(await answers()).toEqual([undefined]);
  });

  test.each(looksOf('reviews'))('that did not run it is told so, accessibly in %s [SVC-23]', async (look) => {
    const stranger = await newParticipant(marketplace);
    await visiting(
      stranger,
      async (page) => {
        await review(page, '1', 'Never seen.');
        await says(page.locator('#review'), 'Your review was not published. A review needs a finished run');
        expect(await page.getByLabel('Comment').inputValue()).toBe('Never seen.');
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
        expect(await accessibilityViolations(page)).toEqual([]);
      },
      { ...LOOKS[look], bypassCSP: true },
    );
    const { reviews } = await stranger.client.listReviews(agent);
    expect(reviews.map(({ comment }) => comment)).not.toContain('Never seen.');
  });
});
