import { findRunningPostgres } from '@agent-rental/server/testing';
import { Pool } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { publishProgram, rentAgent } from '../support/agents/agents.js';
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
import { until } from '../support/timing/until.js';

/** Days before today on which the runs ended, and whether each is cancelled, which counts as failed. */
const RUNS = [
  { daysAgo: 12 },
  { daysAgo: 3 },
  { daysAgo: 3 },
  { daysAgo: 1 },
  // Last: a run of today must not be moved with a later one.
  { daysAgo: 0 },
  { daysAgo: 0, isCancelled: true },
] as const;
const NET = 975 / 1000;

describe.runIf(browserPath !== undefined)('the charts of a wallet', () => {
  let marketplace: Marketplace;
  let database: Pool;
  let browser: Browser;
  let creator: Participant;
  let renter: Participant;
  let agents: [string, string];
  /** Earnings of the creator. */
  let all: number;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    database = new Pool({ connectionString: findRunningPostgres(marketplace.stateDir), max: 2 });
    browser = await openBrowser();
    [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
    const program = `await new Promise((done) => setTimeout(done, input.wait_ms)); return { n: 1 };`;
    agents = [
      await publishProgram(marketplace, creator, program),
      await publishProgram(marketplace, creator, program),
    ];
    for (const id of agents) await rentAgent(renter, id);
    for (const [index, { daysAgo, ...how }] of RUNS.entries()) {
      // The second agent has one run of three.
      const agent_id = index % 3 === 2 ? agents[1] : agents[0];
      const input = { wait_ms: 'isCancelled' in how ? 60_000 : 0 };
      const { run_id: id } = await renter.client.executeAsync({ agent_id, task: 'Go.', input });
      if ('isCancelled' in how) {
        // A run that is cancelled before its charge does not count as failed.
        await until(async () => {
          const run = await renter.client.getRun(id);
          return run.status === 'running' && run.step === 'charged';
        });
        await renter.client.cancelRun(id);
      }
      await renter.client.waitForRun(id);
      await endEarlier(id, daysAgo);
    }
    // The creator has earned of each run that cost something.
    const { runs } = await renter.client.listRuns();
    all = runs.reduce((sum, { cost_lamports: cost }) => sum + cost * NET, 0);
    await until(async () => (await creator.client.getEarnings()).sum.earned_lamports === all, 30_000);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await database?.end();
  });

  /** Lets a run have ended some days ago, unless it is counted already: then it ended today, as its count says. */
  async function endEarlier(runId: string, days: number): Promise<void> {
    await database.query(
      `with moved as (
        update listing_run_deltas set noted_at = noted_at - make_interval(days => $2)
        where wallet = $3 and noted_at > now() - interval '1 hour' returning 1
      ) update runs set finished_at = finished_at - make_interval(days => $2)
        where id = $1 and exists (select from moved)`,
      [runId, days, renter.signer.address],
    );
  }

  const visiting = (owner: Participant, path: string, visit: (page: Page) => Promise<void>, options = {}) =>
    withWallet(
      browser,
      { marketplace, owner, path },
      async (page) => {
        await logIn(page);
        await visit(page);
      },
      options,
    );
  const logIn = async (page: Page) => {
    const offer = page.getByRole('button', { name: 'Log in with Test wallet' });
    const isIn = page.getByRole('button', { name: 'Log out' });
    await offer.or(isIn).waitFor();
    if (await offer.isVisible()) await offer.click();
    await isIn.waitFor();
  };
  const figure = (page: Page, title: string) =>
    page.locator('figure').filter({ has: page.locator('figcaption', { hasText: new RegExp(`^${title}$`) }) });
  const rowsOf = (page: Page, title: string) =>
    figure(page, title)
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
  /** The rows of a table with something in them. */
  const fullRowsOf = async (page: Page, title: string) =>
    (await rowsOf(page, title)).filter(([, ...cells]) =>
      cells.some((cell) => !/^(0|0 SOL|none)$/.test(cell)),
    );
  const sol = (lamports: number) => `${Number((lamports / 1e9).toFixed(9))} SOL`;

  interface Counted {
    of: string;
    completed: number;
    failed: number;
    undelivered: number;
    spent: number;
  }
  /** The numbers of the renter's runs within so many days of UTC, from the runs themselves. */
  async function bySql(days: number, of: string, agentId?: string): Promise<Counted[]> {
    const { rows } = await database.query<Counted>(
      `select ${of} as of, count(*) filter (where status = 'completed')::integer as completed,
        count(*) filter (where status = 'failed')::integer as failed,
        count(*) filter (where status = 'undelivered')::integer as undelivered, sum(cost_lamports)::integer as spent
      from runs
      where wallet = $1 and ($2::text is null or listing_id = $2)
        and finished_at >= date_trunc('day', now(), 'UTC') - make_interval(days => $3 - 1)
      group by 1 order by 1`,
      [renter.signer.address, agentId ?? null, days],
    );
    return rows;
  }
  const DAY = `to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD')`;
  const share = ({ completed, failed }: Counted) =>
    `${Math.round((completed / (completed + failed)) * 100)} %`;

  test('of its spending have the numbers of its runs and receipts, by day and by agent [SVC-31]', async () => {
    const { runs } = await renter.client.listRuns();
    const receipts = await Promise.all(runs.map(({ run_id: id }) => renter.client.getReceipt(id)));
    const paid = receipts.reduce((sum, { receipt }) => sum + receipt.cost_lamports, 0);
    expect((await bySql(30, DAY)).reduce((sum, { spent }) => sum + spent, 0)).toBe(paid);
    await visiting(renter, '/dashboard', async (page) => {
      for (const window of ['30d', '7d'] as const) {
        const days = Number.parseInt(window, 10);
        await page.getByLabel('Over the last').selectOption(window);
        await expect.poll(async () => (await rowsOf(page, 'Runs by day')).length).toBe(days);
        const byDay = await bySql(days, DAY);
        expect(byDay.length).toBeGreaterThan(2);
        expect(await fullRowsOf(page, 'Spent on runs by day')).toEqual(
          byDay.map(({ of, spent }) => [of, sol(spent)]),
        );
        expect(await fullRowsOf(page, 'Runs by day')).toEqual(
          byDay.map(({ of, completed, failed, undelivered }) => [
            of,
            ...[completed, failed, undelivered].map(String),
          ]),
        );
        expect(await fullRowsOf(page, 'Success rate')).toEqual(byDay.map((day) => [day.of, share(day)]));
        const byAgent = (await bySql(days, 'listing_id')).toSorted((one, other) => other.spent - one.spent);
        const ranked = await rowsOf(page, 'Spent on runs by agent');
        expect(ranked.map(([label, spent]) => [/\((.*)\)$/.exec(label ?? '')?.[1], spent])).toEqual(
          byAgent.map(({ of, spent }) => [of, sol(spent)]),
        );
      }
    });
  });

  test('of an agent have the numbers of its runs, over each window [SVC-30]', async () => {
    const [id] = agents;
    await visiting(creator, `/dashboard/creator/agents/${id}`, async (page) => {
      for (const window of ['24h', '7d', '30d'] as const) {
        await page.getByLabel('Over the last').selectOption(window);
        const { series = [] } = await creator.client.getAgentStats(id, { window });
        const labels = series.map(({ started_at: at }) =>
          window === '24h' ? at.slice(0, 16).replace('T', ' ') : at.slice(0, 10),
        );
        await expect.poll(async () => (await rowsOf(page, 'Runs')).map(([label]) => label)).toEqual(labels);
        const seconds = (ms: number | null) => (ms === null ? 'none' : `${(ms / 1000).toFixed(2)} s`);
        expect(await rowsOf(page, 'Duration')).toEqual(
          series.map(({ duration_ms: { p50, p95 } }, index) => [labels[index], seconds(p50), seconds(p95)]),
        );
        expect(await rowsOf(page, 'Earned')).toEqual(
          series.map(({ earned_lamports: lamports }, index) => [labels[index], sol(lamports)]),
        );
      }
      for (const window of ['7d', '30d'] as const) {
        await page.getByLabel('Over the last').selectOption(window);
        await expect.poll(async () => (await rowsOf(page, 'Runs')).length).toBe(Number.parseInt(window, 10));
        const byDay = await bySql(Number.parseInt(window, 10), DAY, id);
        expect(await fullRowsOf(page, 'Runs')).toEqual(
          byDay.map(({ of, completed, failed, undelivered }) => [
            of,
            ...[completed, failed, undelivered].map(String),
          ]),
        );
        expect(await fullRowsOf(page, 'Success rate')).toEqual(byDay.map((day) => [day.of, share(day)]));
      }
      // Earnings are of one day, on which a full bar would say nothing.
      await figure(page, 'Earned')
        .getByText(/^Only \d{4}-\d\d-\d\d: 0\.\d+ SOL\.$/)
        .waitFor();
      expect(await figure(page, 'Earned').locator('svg').count()).toBe(0);
      // Views and rentals are no runs.
      const funnel = figure(page, 'From views to runs').locator('.axes text');
      expect(await funnel.allTextContents()).toContain('count');
      const facts = await page.locator('#stats-facts').textContent();
      expect(facts).toContain('Nightly runThere was none yet.');
      const own = (await creator.client.getEarnings()).earnings.find(({ listing_id: of }) => of === id);
      expect(facts).toContain(`Ever earned${sol(own?.earned_lamports ?? 0)}`);
    });
  });

  test('have an axis with its unit, tips, and words of the period that is pointed at or focused [SVC-31]', async () => {
    await visiting(renter, '/dashboard', async (page) => {
      const runs = figure(page, 'Runs by day');
      await runs.locator('svg').scrollIntoViewIfNeeded();
      const byDay = await bySql(30, DAY);
      expect(byDay.at(-1)).toMatchObject({ failed: 1 });
      expect(await runs.locator('.slot rect:not(.place)').count()).toBe(
        byDay.reduce((sum, { completed, failed }) => sum + (completed > 0 ? 1 : 0) + (failed > 0 ? 1 : 0), 0),
      );
      expect(await runs.locator('.axes text').allTextContents()).toEqual(
        expect.arrayContaining(['runs', '0', '1', '2']),
      );
      expect(await figure(page, 'Spent on runs by day').locator('.axes text').allTextContents()).toContain(
        'SOL',
      );
      expect(await figure(page, 'Success rate').locator('.axes text').allTextContents()).toEqual(
        expect.arrayContaining(['%', '0', '100']),
      );
      const day = byDay.at(-1);
      const words = `${day?.of}: completed ${day?.completed}, failed ${day?.failed}, could not be served 0`;
      const last = runs.locator('.slot').last();
      expect(await last.locator('title').textContent()).toBe(words);
      await last.hover();
      expect(await runs.locator('.told').textContent()).toBe(words);
      // One stop for the Tab key in each drawing, and the arrow keys within it.
      expect(await runs.locator('.slot[tabindex="0"]').count()).toBe(1);
      await last.focus();
      await page.keyboard.press('ArrowLeft');
      expect(await runs.locator('.told').textContent()).toContain(': completed ');
      expect(await runs.locator('.told').textContent()).not.toBe(words);
      await page.keyboard.press('End');
      expect(await runs.locator('.told').textContent()).toBe(words);
      // Of no data or one value there is a sentence.
      const other = { ...(await renter.client.getSpending({ window: '7d' })), agents: [] };
      for (const [shown, sentence] of [
        [0, 'There was no run in this time.'],
        [1, /^Only .*: completed 2, failed 0, could not be served 0\.$/],
      ] as const) {
        const series = other.series.map((period, index) => ({
          ...period,
          completed: index < shown ? 2 : 0,
          failed: 0,
          undelivered: 0,
          spent_lamports: 0,
        }));
        await page.route('**/v1/spending?window=7d', (route) =>
          route.fulfill({ json: { ...other, series } }),
        );
        await page.getByLabel('Over the last').selectOption('30d');
        await page.getByLabel('Over the last').selectOption('7d');
        await runs.getByText(sentence).waitFor();
        expect(await runs.locator('svg').count()).toBe(0);
        await page.unrouteAll();
      }
    });
  });

  test('of a creator sum all agents, and each agent has its week [SVC-30]', async () => {
    await visiting(creator, '/dashboard/creator', async (page) => {
      const byDay = await bySql(30, DAY);
      expect(await fullRowsOf(page, 'Runs in the last 30 days')).toEqual(
        byDay.map(({ of, completed, failed, undelivered }) => [
          of,
          ...[completed, failed, undelivered].map(String),
        ]),
      );
      const [[, earned] = []] = await fullRowsOf(page, 'Earned in the last 30 days');
      expect(earned).toBe(sol(all));
      for (const id of agents) {
        const [week] = await bySql(7, 'listing_id', id);
        if (week === undefined) throw new Error(`${id} has no run.`);
        const count = week.completed + week.failed;
        await page
          .locator('#agents > li')
          .filter({ hasText: id })
          .getByText(
            `Last 7 days: ${count === 1 ? '1 run' : `${count} runs`}, ${share(week)} succeeded, earned 0.`,
          )
          .waitFor();
        await page.getByRole('link', { name: `As renters see it: ${id}` }).waitFor();
      }
    });
  });

  test.each(looksOf('charts'))(
    'fit, and have no violation that axe knows of, in %s [SVC-17]',
    async (look) => {
      const seen = [
        ['home', renter, '/dashboard'],
        ['creator', creator, '/dashboard/creator'],
        ['agent', creator, `/dashboard/creator/agents/${agents[0]}`],
      ] as const;
      for (const [name, owner, path] of seen) {
        await visiting(
          owner,
          path,
          async (page) => {
            if (name === 'agent') await page.getByLabel('Over the last').selectOption('30d');
            await page.locator('svg.chart').first().waitFor();
            const folder = process.env['SCREENSHOTS'];
            if (folder !== undefined)
              await page.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: true });
            expect(
              await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
            ).toBeLessThanOrEqual(0);
            expect(await accessibilityViolations(page), path).toEqual([]);
          },
          { ...LOOKS[look], bypassCSP: true },
        );
      }
    },
  );
});
