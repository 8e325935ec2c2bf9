import { formatSol } from '@agent-rental/contract';
import { rent, resume } from '@agent-rental/sdk/solana';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { Connection } from '@solana/web3.js';
import pg from 'pg';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRICE, textAgent } from '../support/agents/agents.js';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
} from '../support/browser/browser.js';
import { logIn, says, withWallet } from '../support/browser/wallet-page.js';
import { startOperatedMarketplace, type OperatedMarketplace } from './operated-marketplace.js';
import { newParticipant } from '../support/participant.js';

const SIGNATURE = expect.stringMatching(/^\w{80,90}$/) as string;
/** The protocol's fee of the embedded default. */
const FEE_BPS = 250;

describe.runIf(browserPath !== undefined)('on the page of the console', () => {
  const path = '/dashboard/operator';
  let operated: OperatedMarketplace;
  let { model, marketplace, creator, operator, admin, register, publish } = {} as OperatedMarketplace;
  let browser: Browser;
  beforeAll(async () => {
    operated = await startOperatedMarketplace();
    ({ model, marketplace, creator, operator, admin, register, publish } = operated);
    browser = await openBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await operated?.close();
  });

  test('an operator rejects an agent with a reason and approves it, and the wallet signs each decision', async () => {
    const { id, jobId } = await register();
    const stateOf = async () => (await creator.client.getJob(jobId)).review?.state;
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      const reject = page.getByRole('button', { name: `Reject ${id}` });
      await reject.click();
      await says(page, 'Give the reason');
      await page.getByLabel(`Reason to reject ${id}`).fill('It names no output.');
      await reject.click();
      await says(page, `${id}: the decision is stored.`);
      expect(await stateOf()).toBe('rejected');
    });
    const other = await register();
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      await page.getByRole('button', { name: `Approve ${other.id}` }).click();
      await says(page, `${other.id}: the decision is stored.`);
    });
    expect((await creator.client.getJob(other.jobId)).review?.state).toBe('approved');
    const { actions } = await operator.client.listOperatorActions();
    expect(actions.slice(0, 2)).toMatchObject([
      { action: 'approve', subject: other.id, operator: operator.signer.address, signature: SIGNATURE },
      { action: 'reject', subject: id, reason: 'It names no output.', signature: SIGNATURE },
    ]);
  });

  test('a review of an agent that could not be reached says so, and why, and no other review does', async () => {
    const [{ id }, { id: other }] = [await register(), await register()];
    const database = new pg.Pool({ connectionString: findRunningPostgres(marketplace.stateDir) });
    const detail = 'the connection failed (ECONNREFUSED)';
    // A probe that is still under way would write over it.
    await expect
      .poll(async () => {
        const { rowCount } = await database.query(
          `update agent_probes set unreachable_since = now(), failed_at = now(), reached_at = null,
             reason = 'endpoint_unreachable', detail = $2 where listing_id = $1 and requested_at is null`,
          [id, detail],
        );
        return rowCount;
      })
      .toBe(1);
    await database.end();
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      const card = (of: string) => page.locator('#review-list > li').filter({ hasText: of });
      const mark = (of: string) => card(of).getByText('Not reached', { exact: true });
      await card(other).waitFor();
      expect([await mark(id).count(), await mark(other).count()]).toEqual([1, 0]);
      expect(await card(id).textContent()).toContain(detail);
    });
  });

  test('an operator reads all of an agent after a signature, and runs it once on an own input', async () => {
    const { id } = await register();
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      const card = page.locator('#review-list > li').filter({ hasText: id });
      await card.getByText('Look at it, and try it').click();
      await page.getByRole('button', { name: `Show all of ${id}` }).click();
      await says(page, `${id} is shown.`);
      const agent = page.getByRole('region', { name: `Agent ${id}` });
      expect(await agent.textContent()).toContain('"system_prompt"');
      await page.getByLabel(`Task of a test run of ${id}`).fill('Try it.');
      await page.getByRole('button', { name: `Run ${id}` }).click();
      (await model.nextCall()).answer('An answer to the reviewer.');
      await says(page, `The test run of ${id} has ended.`);
      const result = await page.getByRole('region', { name: `Test run of ${id}` }).textContent();
      expect(result).toContain('"output": "An answer to the reviewer."');
    });
    const { actions } = await operator.client.listOperatorActions();
    expect(actions.slice(0, 2)).toMatchObject([
      { action: 'review', subject: id },
      { action: 'review', subject: id },
    ]);
  });

  test('an operator finds a run, and gives a free one for it', async () => {
    const id = await publish(await newParticipant(marketplace));
    const renter = await newParticipant(marketplace);
    await rent(renter.client, renter.signer, id, { deposit_lamports: 2 * PRICE });
    const running = renter.client.execute({ agent_id: id, task: 'Secret task.', input: {} });
    (await model.nextCall()).answer('Secret answer.');
    const { run_id: runId } = await running;
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      await page.getByLabel('Id of a run or request').fill(runId);
      await page.getByRole('button', { name: 'Find' }).click();
      await says(page, 'The run is shown.');
      const record = await page.getByRole('region', { name: `The run ${runId}` }).textContent();
      expect(record).toContain(`"wallet": "${renter.signer.address}"`);
      expect(record).not.toContain('Secret');
      await page.getByLabel(`Reason of the credit for ${runId}`).fill('Our fault.');
      await page.getByRole('button', { name: `Give a free run for ${runId}` }).click();
      await says(page, `${runId}: the decision is stored.`);
    });
    const free = renter.client.execute({ agent_id: id, task: 'Again.', input: {} });
    (await model.nextCall()).answer('An answer.');
    expect(await free).toMatchObject({ status: 'completed', cost_lamports: 0 });
    const { actions } = await operator.client.listOperatorActions();
    expect(actions[0]).toMatchObject({ action: 'credit', subject: runId, signature: SIGNATURE });
  });

  test('the revenue of the day is the lamports of its charges', async () => {
    const id = await publish(await newParticipant(marketplace));
    const renter = await newParticipant(marketplace);
    await rent(renter.client, renter.signer, id, { deposit_lamports: 2 * PRICE });
    const running = renter.client.execute({ agent_id: id, task: 'Work.', input: {} });
    (await model.nextCall()).answer('An answer.');
    await running;
    const database = new pg.Pool({ connectionString: findRunningPostgres(marketplace.stateDir) });
    const { rows } = await database.query<{ lamports: string }>(
      `select sum(cost_lamports) as lamports from runs where status = 'completed'`,
    );
    await database.end();
    const lamports = Number(rows[0]?.lamports);
    expect(lamports).toBeGreaterThanOrEqual(PRICE);
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      const fee = Math.floor((lamports * FEE_BPS) / 10_000);
      // Earnings are there once the chain's accounts are indexed.
      const today = async () => {
        await page.reload();
        await page.getByText('Revenue in the last 30 days as a table').click();
        const table = page.getByRole('region', { name: 'Revenue in the last 30 days' });
        return table.getByRole('row').last().getByRole('cell').allTextContents();
      };
      await expect.poll(today, { timeout: 30_000 }).toEqual([formatSol(lamports - fee), formatSol(fee)]);
    });
  });

  test('an operator closes reports and bans a creator, and the record names the wallet and its signature', async () => {
    const seller = await newParticipant(marketplace);
    const id = await publish(seller);
    await creator.client.createReport(id, { reason: 'fraud', text: 'It asks for my <b>seed phrase</b>.' });
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      await page.getByText('It asks for my <b>seed phrase</b>.').waitFor();
      const reason = () => page.getByLabel(`Reason of the decision about ${id}`).fill('It steals.');
      await reason();
      await page.getByRole('button', { name: `Ban creator ${seller.signer.address}` }).click();
      await says(page, `${seller.signer.address}: the decision is stored.`);
      await reason();
      await page.getByRole('button', { name: `Close reports of ${id}` }).click();
      await says(page, `${id}: the decision is stored.`);
      await page.getByText('No listing has an open report.').waitFor();
      await page.getByRole('row', { name: /ban .*It steals\./ }).waitFor();
    });
    const banned = await seller.client
      .registerAgent(textAgent(model.baseUrl))
      .catch((error: unknown) => error);
    expect(String(banned)).toContain('It steals.');
    const { actions } = await operator.client.listOperatorActions();
    expect(actions.slice(0, 2)).toMatchObject([
      { action: 'resolve-reports', subject: id, operator: operator.signer.address },
      {
        action: 'ban',
        subject: seller.signer.address,
        signature: SIGNATURE,
      },
    ]);
  });

  test('the admin takes a reported listing down, and restores it; another operator reads the command [OPS-114]', async () => {
    const seller = await newParticipant(marketplace);
    const id = await publish(seller);
    const renter = await newParticipant(marketplace);
    await rent(renter.client, renter.signer, id, { deposit_lamports: 4 * PRICE });
    const execute = () => renter.client.execute({ agent_id: id, task: 'Work.', input: {} });
    await renter.client.createReport(id, { reason: 'fraud', text: 'It lies.' });
    await withWallet(browser, { marketplace, owner: operator, path }, async (page) => {
      await logIn(page);
      await page.getByText(`npm run operator -- take-down ${id} --reason TEXT --keypair FILE`).waitFor();
      expect(await page.getByRole('button', { name: `Take down ${id}` }).count()).toBe(0);
    });
    await withWallet(browser, { marketplace, owner: admin, path }, async (page) => {
      await logIn(page);
      const take = page.getByRole('button', { name: `Take down ${id}` });
      await take.click();
      await says(page, 'Give the reason');
      await page.getByLabel(`Reason of the decision about ${id}`).fill('It lies to renters.');
      await take.click();
      await says(page, `${id}: the decision is stored.`);
      await page.getByRole('row', { name: /take-down .*It lies to renters\./ }).waitFor();
    });
    const refused = await execute().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'listing_suspended' });
    expect(String(refused)).toContain('It lies to renters.');
    await withWallet(browser, { marketplace, owner: admin, path }, async (page) => {
      await logIn(page);
      await page.getByLabel('Id of a run or request').fill(id);
      await page.getByRole('button', { name: 'Find' }).click();
      await says(page, 'The listing is shown.');
      await page.getByLabel(`Reason for renters of ${id}`).fill('It was corrected.');
      await page
        .locator('#found')
        .getByRole('button', { name: `Restore ${id}` })
        .click();
      await says(page, `${id}: the decision is stored.`);
      await page
        .locator('#found')
        .getByRole('button', { name: `Take down ${id}` })
        .waitFor();
    });
    await resume(seller.client, seller.signer, id);
    const running = execute();
    (await model.nextCall()).answer('An answer.');
    expect(await running).toMatchObject({ status: 'completed' });
    const { actions } = await admin.client.listOperatorActions();
    const common = { subject: id, operator: admin.signer.address, signature: SIGNATURE };
    expect(actions.slice(0, 2)).toMatchObject([
      { action: 'restore', reason: 'It was corrected.', ...common },
      { action: 'take-down', reason: 'It lies to renters.', ...common },
    ]);
    const [restored] = actions;
    const logs = await new Connection(marketplace.dev.rpc_url, 'confirmed').getTransaction(
      restored?.signature ?? '',
      { maxSupportedTransactionVersion: 0 },
    );
    expect(logs?.meta?.err).toBeNull();
  });

  describe('with a review, a report and a listing that was found', () => {
    let id: string;
    beforeAll(async () => {
      id = await publish(await newParticipant(marketplace));
      await creator.client.createReport(id, { reason: 'fraud', text: 'It lies.' });
    });

    test.each(looksOf('console'))('has no violation that axe knows of, and fits, in %s', async (look) => {
      const { id: waiting } = await register();
      await withWallet(
        browser,
        { marketplace, owner: look === 'dark' ? admin : operator, path },
        async (page) => {
          await logIn(page);
          await page.locator('#report-list > li').filter({ hasText: id }).waitFor();
          const card = page.locator('#review-list > li').filter({ hasText: waiting });
          await card.getByText('Look at it, and try it').click();
          await page.getByLabel('Id of a run or request').fill(id);
          await page.getByRole('button', { name: 'Find' }).click();
          await says(page, 'The listing is shown.');
          const folder = process.env['SCREENSHOTS'];
          if (folder !== undefined)
            await page.screenshot({ path: `${folder}/operator-${look}.png`, fullPage: true });
          expect(
            await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
          ).toBeLessThanOrEqual(0);
          expect(await accessibilityViolations(page)).toEqual([]);
        },
        { ...LOOKS[look], bypassCSP: true },
      );
    });
  });

  test('another wallet sees nothing', async () => {
    const { id } = await register();
    await withWallet(browser, { marketplace, owner: creator, path }, async (page) => {
      await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
      await says(page, 'The console is for the wallets of the operator.');
      expect(await page.getByText(id).count()).toBe(0);
      expect(await page.getByRole('heading', { name: 'Reviews' }).isVisible()).toBe(false);
    });
  });
});
