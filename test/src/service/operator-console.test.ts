import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@agent-rental/sdk';
import { decideAsOperator, keypairSigner, moderate, rent, resume } from '@agent-rental/sdk/solana';
import { Connection, Keypair } from '@solana/web3.js';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobEnd, PRICE, textAgent } from '../support/agents/agents.js';
import { accessibilityViolations, browserPath, LOOKS, openBrowser } from '../support/browser/browser.js';
import { logIn, says, withWallet } from '../support/browser/wallet-page.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { newParticipant, type Participant } from '../support/participant.js';

const keypair = Keypair.generate();
/** An operator, and the program's admin. */
const adminKeypair = Keypair.generate();
let model: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let creator: Participant;
let operator: Participant;
let admin: Participant;

beforeAll(async () => {
  model = await startModelStandIn();
  stateDir = await newStateDir();
  await mkdir(join(stateDir, 'keys'), { recursive: true, mode: 0o700 });
  const secret = JSON.stringify([...adminKeypair.secretKey]);
  await writeFile(join(stateDir, 'keys', 'admin.json'), secret, { mode: 0o600 });
  marketplace = await startMarketplace(stateDir, {
    ...withoutExamples(model.baseUrl),
    REVIEW: 'operator',
    OPERATOR_WALLETS: [keypair, adminKeypair].map(({ publicKey }) => publicKey.toBase58()).join(),
  });
  creator = await newParticipant(marketplace);
  [operator, admin] = [participantOf(keypair), participantOf(adminKeypair)];
}, 180_000);

afterAll(async () => {
  await model?.close();
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

function participantOf(wallet: Keypair): Participant {
  const signer = keypairSigner(wallet);
  return {
    wallet,
    token: '',
    signer,
    client: createClient({ baseUrl: marketplace.dev.base_url, signer, retries: 0 }),
  };
}

/** Registers an agent that waits for a review. */
async function register({ client } = creator): Promise<{ id: string; jobId: string }> {
  const { job_id: jobId } = await client.registerAgent(textAgent(model.baseUrl));
  return { jobId, id: (await jobEnd(client, jobId)).result?.listing_id ?? '' };
}

/** Publishes an agent, which the operator approves. @returns its id */
async function publish(seller: Participant): Promise<string> {
  const { id } = await register(seller);
  await decideAsOperator(operator.client, operator.signer, { action: 'approve', listing_id: id, version: 1 });
  const { transaction } = await seller.client.createTransaction({ action: 'publish', listing_id: id });
  const signed = await seller.signer.signTransaction(Buffer.from(transaction, 'base64'));
  await seller.client.submitTransaction(Buffer.from(signed).toString('base64'));
  return id;
}

test('a wallet that is not on the list sees nothing of the console', async () => {
  const { client, signer } = creator;
  const nothing = { status: 404, code: 'not_found' };
  await expect(client.getOperatorOverview()).rejects.toMatchObject(nothing);
  await expect(client.listOperatorReviews()).rejects.toMatchObject(nothing);
  await expect(client.listOperatorReports()).rejects.toMatchObject(nothing);
  await expect(client.listOperatorActions()).rejects.toMatchObject(nothing);
  await expect(client.findForOperator(signer.address)).rejects.toMatchObject(nothing);
  const decision = { action: 'reject', listing_id: (await register()).id, reason: 'No.' } as const;
  await expect(decideAsOperator(client, signer, decision)).rejects.toMatchObject(nothing);
});

test('a decision counts with the signature of an operator over exactly it', async () => {
  const { client, signer } = operator;
  const { id, jobId } = await register();
  const { reviews } = await client.listOperatorReviews();
  expect(reviews).toContainEqual(
    expect.objectContaining({ listing_id: id, version: 1, unreachable: null }) as object,
  );
  const decision = { action: 'reject', listing_id: id, reason: 'It names no output.' } as const;
  const unsigned = await client.decideAsOperator(decision).catch((error: unknown) => error);
  expect(unsigned).toMatchObject({ status: 401, code: 'invalid_signature' });
  expect((unsigned as Error).message).toContain('"reason":"It names no output."');
  await decideAsOperator(client, signer, decision);
  expect((await creator.client.getJob(jobId)).review).toMatchObject({
    state: 'rejected',
    reasons: ['It names no output.'],
  });
  await expect(
    decideAsOperator(client, signer, { action: 'approve', listing_id: id, version: 2 }),
  ).rejects.toMatchObject({ code: 'invalid_request' });
  await decideAsOperator(client, signer, { action: 'approve', listing_id: id, version: 1 });
  expect((await client.listOperatorReviews()).reviews.map(({ listing_id: of }) => of)).not.toContain(id);
});

test('a take-down is the admin’s alone, and goes on record once it has landed [OPS-114]', async () => {
  const id = await publish(await newParticipant(marketplace));
  const suspend = ({ client, signer }: Participant) => moderate(client, signer, id, { suspended: true });
  await expect(suspend(operator)).rejects.toMatchObject({
    code: 'invalid_request',
  });
  const { signature: transaction } = await suspend(admin);
  const record = (action: 'take_down' | 'restore', listing = id, signature = transaction) =>
    decideAsOperator(admin.client, admin.signer, {
      action,
      listing_id: listing,
      reason: 'Spam.',
      transaction: signature,
    });
  const nothing = { code: 'invalid_request' };
  await expect(record('restore')).rejects.toMatchObject(nothing);
  await expect(record('take_down', (await register()).id)).rejects.toMatchObject(nothing);
  await expect(record('take_down', id, '1'.repeat(64))).rejects.toMatchObject(nothing);
  await record('take_down');
  await record('take_down');
  const { actions } = await admin.client.listOperatorActions();
  expect(actions.filter(({ subject, action }) => subject === id && action === 'take-down')).toMatchObject([
    { reason: 'Spam.', signature: transaction },
  ]);
});

test('the overview has thirty days, and the state of the service', async () => {
  const overview = await operator.client.getOperatorOverview();
  expect(overview).toMatchObject({ ready: true, reasons: [] });
  expect(overview.days).toHaveLength(30);
  expect(overview.waiting_reviews).toBeGreaterThan(0);
});

describe.runIf(browserPath !== undefined)('on the page of the console', () => {
  const path = '/dashboard/operator';
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

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
        signature: expect.stringMatching(/^\w{80,90}$/) as string,
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
    const signature = expect.stringMatching(/^\w{80,90}$/) as string;
    const common = { subject: id, operator: admin.signer.address, signature };
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

    test.each(Object.keys(LOOKS) as (keyof typeof LOOKS)[])(
      'has no violation that axe knows of, and fits, in %s',
      async (look) => {
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
      },
    );
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
