import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { rent } from '@agent-rental/sdk/solana';
import { PRICE, publishProgram, rentAgent } from '../support/agents/agents.js';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
} from '../support/browser/browser.js';
import { addTestWallet, type AskedWallet } from '../support/browser/test-wallet.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const SCRIPT = '<script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'">';
const HOSTILE = `Clerk" ${SCRIPT} \u202eEnd`;
const HUGE_CHARACTERS = 300_000;
const PROGRAM = `
await new Promise((resolve) => setTimeout(resolve, input?.wait_ms ?? 0));
return { said: input?.said ?? ${JSON.stringify(HOSTILE)}, count: input?.count ?? null, rest: 'x'.repeat(input?.huge ? ${HUGE_CHARACTERS} : 0) };`;
const SCHEMA = {
  type: 'object',
  properties: {
    said: { type: 'string', description: `The text to say. ${HOSTILE}` },
    count: { type: 'integer' },
    tone: { enum: ['kind', SCRIPT] },
    huge: { type: 'boolean' },
    parts: { type: 'array', items: { type: 'string' } },
    wait_ms: { type: 'integer' },
    [SCRIPT]: { type: 'string', maxLength: 20 },
  },
};

/** Whether a field is marked as wrong, and the words beside it that say why. */
const describedBy = (field: Element): [invalid: string | null, words: string | undefined] => [
  field.getAttribute('aria-invalid'),
  document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent ?? undefined,
];

describe.runIf(browserPath !== undefined)('in the dashboard, a wallet', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  let renter: Participant;
  let agentId: string;
  let trialId: string;
  let runId: string;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    const creator = await newParticipant(marketplace);
    const listing = { title: HOSTILE.slice(0, 115), sample_output: ['{}'] };
    agentId = await publishProgram(marketplace, creator, PROGRAM, { listing, input_schema: SCHEMA });
    trialId = await publishProgram(marketplace, creator, PROGRAM, {
      listing: { sample_output: ['{}'], free_trial: true },
      input_schema: {},
    });
    renter = await newParticipant(marketplace);
    await rentAgent(renter, agentId);
    runId = (await renter.client.execute({ agent_id: agentId, task: 'Say it.', input: {} })).run_id;
    browser = await openBrowser();
  }, 120_000);
  afterAll(() => browser?.close());

  const addressOf = (path: string) => new URL(path, marketplace.dev.base_url).href;
  const saysIn = (page: Page, text: string | RegExp) =>
    expect.poll(() => page.getByRole('status').textContent(), { timeout: 30_000 }).toMatch(text);

  /** Opens a page logged in, and expects that nothing of it ran, leads elsewhere or was refused. */
  async function visit(
    participant: Participant,
    path: string,
    look: (page: Page, wallet: AskedWallet) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    // Without its policy the page is asked for an icon, too.
    // A refused run has an answer of 400.
    const isExpected = (text: string) =>
      /status of 400/.test(text) || (options.bypassCSP === true && /status of 404/.test(text));
    page.on('console', (message) => {
      if (message.type() === 'error' && !isExpected(message.text())) complaints.push(message.text());
    });
    const wallet = await addTestWallet(page, participant.wallet, 'solana:localnet');
    await page.goto(addressOf(path));
    await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await look(page, wallet);
    expect(complaints).toEqual([]);
    expect(await page.title()).not.toBe('taken');
    expect(await page.locator('img, iframe').count()).toBe(0);
    await context.close();
  }

  test('sees its rentals, their status and the next step, page by page [SVC-23]', async () => {
    const other = await newParticipant(marketplace);
    for (const [model, terms] of [
      ['one_time', {}],
      ['subscription', { duration_seconds: 2_592_000 }],
      ['per_query', { deposit_lamports: 10_000_000 }],
    ] as const) {
      await rent(other.client, other.signer, marketplace.listing(model).id, terms, {
        approve: () => true,
      });
    }
    await visit(other, '/dashboard', async (page) => {
      await saysIn(page, '3 rentals.');
      const card = (model: Parameters<typeof marketplace.listing>[0]) =>
        page.getByRole('listitem').filter({ hasText: `Agent ${marketplace.listing(model).id}` });
      await card('one_time').getByText('Active, for good.').waitFor();
      await card('subscription').getByText('Active until ').waitFor();
      await card('subscription').getByRole('link', { name: 'Renew' }).waitFor();
      await card('per_query').getByText('Balance 0.01 SOL, enough for 40 runs.').waitFor();
      await card('per_query').getByRole('link', { name: 'Top up' }).waitFor();
      expect(
        await card('one_time')
          .getByRole('link', { name: /Renew|Top up/ })
          .count(),
      ).toBe(0);
      // Two on a page: the service gives the rest by its cursor.
      await page.route('**/v1/credentials?**', (route) =>
        route.continue({ url: route.request().url().replace('limit=24', 'limit=2') }),
      );
      await page.reload();
      await page.getByRole('button', { name: 'More rentals' }).click();
      await expect.poll(() => page.locator('#list > li').count()).toBe(3);
      expect(await page.getByRole('button', { name: 'More rentals' }).count()).toBe(0);
    });
  });

  test('sees its runs, filtered by an agent and by a status, page by page [SVC-23]', async () => {
    const other = await newParticipant(marketplace);
    await rentAgent(other, agentId);
    const run = (input: object) =>
      other.client.execute({ agent_id: agentId, task: 'Say it.', input } as never);
    await run({ count: 1 });
    await run({ count: 2 });
    await other.client.executeAsync({ agent_id: agentId, task: 'Wait.', input: { wait_ms: 60_000 } });
    await visit(other, `/dashboard/runs?agent_id=${agentId}`, async (page) => {
      await saysIn(page, '3 runs shown.');
      expect(await page.locator('#list').innerText()).toMatch(/Running[^]*Completed, 0\.00025 SOL, took \d/);
      await page.getByLabel('Status').selectOption('completed');
      await page.getByRole('button', { name: 'Show' }).click();
      await saysIn(page, '2 runs shown.');
      await page.getByLabel('Agent id').fill(trialId);
      await page.getByRole('button', { name: 'Show' }).click();
      await page.getByText('No run matches.').waitFor();
      await page.route('**/v1/runs?**', (route) =>
        route.continue({ url: route.request().url().replace('limit=24', 'limit=2') }),
      );
      await page.goto(addressOf('/dashboard/runs'));
      await page.getByRole('button', { name: 'Earlier runs' }).click();
      await expect.poll(() => page.locator('#list > li').count()).toBe(3);
    });
    const { runs } = await other.client.listRuns();
    await other.client.cancelRun(runs.find(({ status }) => status === 'running')?.run_id ?? '');
  });

  test('follows a run to its end without loading the page again, and cancels one [SVC-23]', async () => {
    const begin = (wait_ms: number) =>
      renter.client.executeAsync({ agent_id: agentId, task: 'Wait.', input: { wait_ms } });
    const short = await begin(3_000);
    await visit(renter, `/dashboard/runs/${short.run_id}`, async (page) => {
      await saysIn(page, 'It runs.');
      const steps = page.getByLabel('Steps').getByRole('listitem');
      await expect.poll(() => page.locator('[aria-current=step]').textContent()).toMatch(/agent/);
      await page.getByText(/^\d+ s$/).waitFor();
      await saysIn(page, 'The run has ended: completed.');
      expect((await steps.allTextContents()).map((text) => text.replace(/ \d.*/, ''))).toEqual([
        'Taken on',
        'Charged',
        'Completed',
      ]);
      expect(await page.locator('#facts').textContent()).toMatch(/Version1Status/);
      expect(await page.getByText(/^\d+ s$/).count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Cancel the run' }).count()).toBe(0);
      const long = await begin(60_000);
      await page.goto(addressOf(`/dashboard/runs/${long.run_id}`));
      await page.getByRole('button', { name: 'Cancel the run' }).click();
      await saysIn(page, 'The run has ended: cancelled.');
      await page.getByText('Cancelled by the wallet').waitFor();
      await steps.getByText(/^Cancelled/).waitFor();
      expect(await renter.client.getRun(long.run_id)).toMatchObject({ stop_reason: 'cancelled' });
    });
  });

  test('reads a hostile output as text, and the beginning of a huge one [SVC-17]', async () => {
    const run = await renter.client.execute({ agent_id: agentId, task: 'Say it.', input: { huge: true } });
    await visit(renter, `/dashboard/runs/${run.run_id}`, async (page) => {
      const output = (await page.getByLabel('Output', { exact: true }).textContent()) ?? '';
      expect(output).toContain('<script>document.title');
      expect(output).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      expect(output.length).toBeLessThanOrEqual(100_000);
      await page.getByText('This is its beginning. The download has all of it.').waitFor();
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download the output' }).click();
      const file = join(await mkdtemp(join(tmpdir(), 'agent-rental-output-')), 'run.json');
      await (await download).saveAs(file);
      const whole = await readFile(file, 'utf8');
      await rm(dirname(file), { recursive: true });
      expect(JSON.parse(whole)).toEqual(run.output);
      await page.goto(addressOf('/dashboard'));
      const title = page.getByRole('link', { name: /^Clerk" <script>/ });
      await title.waitFor();
      expect(await title.innerText()).not.toMatch(/\u202e/);
    });
  });

  test('is told that a receipt is wrong, or that its run is not on-chain yet [SVC-23]', async () => {
    const run = await renter.client.execute({ agent_id: agentId, task: 'Say it.', input: { said: 'Yes.' } });
    await visit(renter, `/dashboard/runs/${run.run_id}`, async (page) => {
      const verify = page.getByRole('button', { name: 'Verify the receipt' });
      /** Changes the service's answers, as a lying service would. */
      const lie = async (path: string, change: (body: Record<string, never>) => object) => {
        await page.unrouteAll();
        await page.route(path, async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, json: change((await response.json()) as Record<string, never>) });
        });
        await verify.click();
      };
      const receiptOf = '**/receipt?include=transaction';
      const wrong = page.locator('#verified');
      await lie(receiptOf, ({ receipt, ...rest }) => ({
        ...rest,
        receipt: { ...(receipt as unknown as object), cost_lamports: 1 },
      }));
      await saysIn(page, 'The receipt is wrong.');
      await wrong.getByText('answer: Its receipt is not the one that was signed.').waitFor();
      await lie(`**/v1/runs/${run.run_id}`, (state) => ({ ...state, output: { said: 'No.' } }));
      await wrong.getByText('output: It is not the output that the receipt was signed for.').waitFor();
      await lie('**/jwks.json', () => ({ keys: [] }));
      await wrong.getByText('jws: None of the keys is the one that it names.').waitFor();
      await lie(receiptOf, ({ evidence, ...rest }) => ({
        ...rest,
        evidence: { ...(evidence as unknown as object), authorities: [renter.signer.address] },
      }));
      await wrong.getByText('authority: None of the given authorities has signed').waitFor();
      await lie(receiptOf, ({ receipt, salt, jws }) => ({
        receipt,
        salt,
        jws,
        log: { status: 'pending', expected_at: new Date().toISOString() },
      }));
      await saysIn(page, 'The receipt was not verified. The run is not on Solana yet.');
      await page.unrouteAll();
      await verify.click();
      await saysIn(page, 'The receipt is right.');
    });
  });

  test('runs an agent by a form of its schema, with the typed values, and no more [SVC-23]', async () => {
    await visit(renter, `/dashboard/listings/${agentId}`, async (page) => {
      await page.getByText('You have rented it: a run takes 0.00025 SOL').waitFor();
      await page.getByLabel('Task, in plain language').fill('Say it.');
      await page.getByLabel('Input said').fill('line 1\nline 2');
      await page.getByLabel('Input count').fill('seven');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await saysIn(page, 'It did not run. Input count: type a number.');
      const besideCount = () => page.getByLabel('Input count').evaluate(describedBy);
      expect(await besideCount()).toEqual(['true', 'Input count: type a number.']);
      await page.getByLabel('Input count').fill('7.5');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await saysIn(page, 'It did not run. input.count: ');
      expect(await besideCount()).toEqual(['true', expect.stringContaining('input.count: ')]);
      await page.getByLabel('Input count').fill('7');
      await page.getByLabel('Input parts').fill('[1');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await saysIn(page, 'It did not run. Input parts: it is no JSON.');
      expect(await besideCount()).toEqual([null, undefined]);
      await page.getByLabel('Input parts').fill('["a"]');
      const sent = page.waitForRequest('**/v1/execute/stream');
      await page.getByLabel('Input tone').selectOption('kind');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      expect((await sent).postDataJSON()).toEqual({
        agent_id: agentId,
        task: 'Say it.',
        input: { said: 'line 1\nline 2', count: 7, tone: 'kind', parts: ['a'] },
      });
      await saysIn(page, 'The run is completed.');
      const output = JSON.parse((await page.getByLabel('Output').textContent()) ?? '') as object;
      expect(output).toMatchObject({ said: 'line 1\nline 2', count: 7 });
      await page.getByText(`It cost ${PRICE / 1e9} SOL.`).waitFor();
      // Its page has what this tab sent, and the form takes it again.
      await page.getByRole('link', { name: 'This run, with its receipt' }).click();
      await page.getByText('Task and input, as this tab sent them').click();
      await expect.poll(() => page.getByLabel('Task', { exact: true }).textContent()).toBe('Say it.');
      expect(await page.getByLabel('Input', { exact: true }).textContent()).toContain('"tone": "kind"');
      await page.getByRole('link', { name: 'Run again with changes' }).click();
      await expect.poll(() => page.getByLabel('Task, in plain language').inputValue()).toBe('Say it.');
      expect(await page.getByLabel('Input count').inputValue()).toBe('7');
      expect(await page.getByLabel('Input parts').inputValue()).toBe('["a"]');
      // A running run is cancelled there.
      await page.getByLabel('Input wait_ms').fill('60000');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('button', { name: 'Cancel the run' }).click();
      await saysIn(page, 'You cancelled the run.');
      const requests = () => page.evaluate('sessionStorage.getItem("agent-rental-requests")');
      expect(await requests()).toContain('Say it.');
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('button', { name: 'Log in with Test wallet' }).waitFor();
      expect(await requests()).toBeNull();
    });
  });

  test('sends a file as the input: dropped, or chosen by keyboard; and takes the fields again [SVC-23]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agent-rental-input-'));
    const dropped = join(folder, 'input.json');
    await writeFile(dropped, JSON.stringify({ said: 'Out of a file.' }));
    await visit(renter, `/dashboard/listings/${agentId}`, async (page) => {
      await page.getByText('You have rented it').waitFor();
      await page.getByLabel('Task, in plain language').fill('Say it.');
      await page.getByLabel('Input said').fill('Typed.');
      const field = page.getByLabel(/^Or a file as the input: .* at most 8 MiB/);
      const run = async () => {
        const sent = page.waitForRequest('**/v1/execute/stream');
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        const body = (await sent).postDataJSON() as object;
        await saysIn(page, 'The run is completed.');
        return { body, output: await page.getByLabel('Output').textContent() };
      };
      await field.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await field.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const browserSession = await page.context().newCDPSession(page);
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        const data = { items: [], files: [dropped], dragOperationsMask: 1 };
        const at = { x: x + width - 20, y: y + height / 2 };
        await browserSession.send('Input.dispatchDragEvent', { type, ...at, data });
      }
      await expect.poll(() => page.getByLabel('Input said').isDisabled()).toBe(true);
      const first = await run();
      expect(first.body).toEqual({
        agent_id: agentId,
        task: 'Say it.',
        input_uri: expect.stringMatching(/^agent-rental:\/\/files\//) as string,
      });
      expect(first.output).toContain('Out of a file.');

      await page.getByRole('button', { name: 'Take the fields instead of the file' }).focus();
      await page.keyboard.press('Enter');
      expect(await page.getByLabel('Input said').isDisabled()).toBe(false);
      expect((await run()).output).toContain('Typed.');
      const chooser = page.waitForEvent('filechooser');
      await field.focus();
      await page.keyboard.press('Enter');
      await (
        await chooser
      ).setFiles({ name: 'big.txt', mimeType: 'text/plain', buffer: Buffer.alloc(8_388_609, 65) });
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await saysIn(page, 'It did not run. The file has 8388609 bytes. An input has at most 8388608.');
      expect(await field.evaluate(describedBy)).toEqual(['true', expect.stringContaining('8388609 bytes')]);
    });
    await rm(folder, { recursive: true });
  });

  test('sees placeholders while its data takes long, and is told of the log-out [SVC-17]', async () => {
    await visit(renter, '/dashboard', async (page) => {
      const placeholder = () =>
        page.evaluate<string[]>(
          `(({ content, animationDelay }) => [content, animationDelay])(getComputedStyle(document.querySelector('#home'), '::after'))`,
        );
      expect(await placeholder()).toEqual(['none', '0s']);
      let release = () => undefined as void;
      const released = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/v1/credentials?**', async (route) => {
        await released;
        await route.continue();
      });
      await page.reload();
      // Nothing is seen before 100 ms.
      await expect.poll(placeholder).toEqual(['""', '0.1s, 0.1s']);
      release();
      await expect.poll(placeholder).toEqual(['none', '0s']);
      await page.getByLabel('Over the last').selectOption('7d');
      await saysIn(page, 'The charts show the last 7d.');
      await page.getByRole('button', { name: 'Log out' }).click();
      await saysIn(page, 'You are logged out.');
      await page.reload();
      await page.getByRole('button', { name: 'Log in with Test wallet' }).waitFor();
      expect(await page.locator('#home [role=status]').textContent()).toBe('');
    });
  });

  test('that has not rented is led to the rental, or has its free first run [SVC-23]', async () => {
    const other = await newParticipant(marketplace);
    await visit(other, `/dashboard/listings/${agentId}`, async (page) => {
      await saysIn(page, 'Your wallet has not rented it.');
      expect(await page.locator('#task-form').isVisible()).toBe(false);
      await page.locator('#needs-rental').getByRole('link', { name: 'Rent this agent' }).click();
      await page.getByRole('heading', { name: `Rent ${agentId}` }).waitFor();
      await page.goto(addressOf(`/dashboard/listings/${trialId}`));
      await page.getByText('The first run of your wallet is free').waitFor();
      await page.getByLabel('Task, in plain language').fill('Say it.');
      await page.getByLabel('Input, as JSON').fill('{"said": "free"}');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('It cost a free first run.').waitFor();
    });
  });

  test('does all of it by keyboard alone [SVC-17]', async () => {
    await visit(renter, '/dashboard', async (page) => {
      const press = async (target: ReturnType<Page['getByRole']>) => {
        await target.focus();
        await page.keyboard.press('Enter');
      };
      await press(page.getByRole('link', { name: `Run: ${agentId}` }));
      await page.getByText('You have rented it').waitFor();
      await page.getByLabel('Task, in plain language').focus();
      await page.keyboard.type('Say it.');
      // From the task through every field to the button.
      for (const _ of Object.keys(SCHEMA.properties)) await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.id')).toBe('input-file');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Run');
      await page.keyboard.press('Enter');
      await saysIn(page, 'The run is completed.');
      await press(page.getByRole('link', { name: 'This run, with its receipt' }));
      await page.getByRole('button', { name: 'Verify the receipt' }).waitFor();
      await press(page.getByRole('button', { name: 'Verify the receipt' }));
      await saysIn(page, 'The receipt is right.');
      await press(page.getByRole('button', { name: 'Log out' }));
      await page.getByRole('button', { name: 'Log in with Test wallet' }).waitFor();
    });
  });

  test.each(looksOf('rentals'))(
    'has pages that fit and without a violation that axe knows of, in %s [SVC-17]',
    async (look) => {
      const paths = [
        '/dashboard',
        '/dashboard/runs',
        `/dashboard/runs/${runId}`,
        `/dashboard/listings/${agentId}`,
      ];
      await visit(
        renter,
        '/dashboard',
        async (page) => {
          for (const path of paths) {
            await page.goto(addressOf(path));
            await page.getByRole('button', { name: 'Log out' }).waitFor();
            const folder = process.env['SCREENSHOTS'];
            if (folder !== undefined) {
              const name = path.split('/').slice(2, 3).join('') || 'home';
              await page.screenshot({ path: `${folder}/wallet-${name}-${look}.png`, fullPage: true });
            }
            expect(
              await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
            ).toBeLessThanOrEqual(0);
            expect(await accessibilityViolations(page), path).toEqual([]);
          }
        },
        { ...LOOKS[look], bypassCSP: true },
      );
    },
  );
});
