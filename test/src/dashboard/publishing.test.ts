import { createAgentHandler } from '@agent-rental/sdk/creator';
import { rent } from '@agent-rental/sdk/solana';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRICE, textAgent } from '../support/agents/agents.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { browserPath, openBrowser } from '../support/browser/browser.js';
import { logIn, says, withWallet } from '../support/browser/wallet-page.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const ANSWER = 'An answer.';
const path = '/dashboard/creator/publish';
/** More than the page has places for the focus. */
const MOST_TABS = 60;

describe.runIf(browserPath !== undefined)('on the page for publishing, a wallet of the browser', () => {
  let model: ModelStandIn;
  let stateDir: string;
  let marketplace: OwnMarketplace;
  let browser: Browser;
  beforeAll(async () => {
    model = await startModelStandIn();
    model.always(ANSWER);
    stateDir = await newStateDir();
    marketplace = await startMarketplace(stateDir, withoutExamples(model.baseUrl));
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await marketplace?.stop();
    await model?.close();
    await removeStateDir(stateDir);
  });

  const visiting = async (visit: Parameters<typeof withWallet>[2], owner?: Participant) => {
    const creator = owner ?? (await newParticipant(marketplace));
    await withWallet(browser, { marketplace, owner: creator, path }, visit);
    return creator;
  };

  /** The id that the page says it registered. */
  const registeredId = async (page: Page): Promise<string> => {
    await says(page, /^Registered as /);
    return (await page.getByRole('status').textContent())?.split(' ')[2]?.replace(/\.$/, '') ?? '';
  };

  /** The answer that a renter of the agent gets. */
  const rentedAnswer = async (id: string) => {
    const renter = await newParticipant(marketplace);
    await rent(renter.client, renter.signer, id, { deposit_lamports: 4 * PRICE });
    return renter.client.execute({ agent_id: id, task: 'Answer.', input: {} });
  };

  const upload = async (page: Page, manifest: object) => {
    await page.getByText('Publish with a manifest file').click();
    const buffer = Buffer.from(JSON.stringify(manifest));
    await page
      .getByLabel('Manifest file')
      .setInputFiles({ name: 'agent.json', mimeType: 'application/json', buffer });
    await says(page, 'The file was read.');
  };

  test('publishes a declarative agent by the form, which a renter rents and runs [ADP-11] [SVC-30]', async () => {
    let id = '';
    await visiting(async (page, wallet) => {
      await logIn(page);
      await page.getByLabel('Name, in kebab-case').fill('form-made');
      await page.getByLabel('Title').fill('Made by a form');
      await page.getByLabel('Description').fill('Answers in text, for any task.');
      await page.getByLabel('Provider of the model').selectOption('self_hosted');
      await page.getByLabel('Name of the model').fill('stand-in');
      await page.getByLabel('Address of the model').fill(model.baseUrl);
      await page.getByLabel('Key of the model’s vendor; it').fill('a-key-of-the-form');
      await page.getByLabel('System prompt').fill('You answer.');
      await page
        .getByLabel('Price in SOL')
        .first()
        .fill(String(PRICE / 1e9));
      await page.getByRole('button', { name: 'Register this agent' }).click();
      id = await registeredId(page);
      expect(id).toMatch(/^form-made-[a-z2-7]{6}$/);
      expect(wallet.transactions).toBe(0);
      // The key is no longer in the field, nor anywhere else on the page.
      expect(await page.content()).not.toContain('a-key-of-the-form');
      expect(await page.locator('[data-path=model_key]').first().inputValue()).toBe('');
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await says(page, `Published: ${id} is active`);
      expect(wallet.transactions).toBe(1);
      await page.getByRole('link', { name: 'See its listing' }).click();
      await page.getByRole('heading', { level: 1, name: 'Made by a form' }).waitFor();
    });
    expect(await rentedAnswer(id)).toMatchObject({
      status: 'completed',
      output: ANSWER,
      cost_lamports: PRICE,
    });
  });

  test('publishes by keyboard alone [SVC-17] [SVC-30]', async () => {
    await visiting(async (page, wallet) => {
      await logIn(page);
      const press = (key: string) => page.keyboard.press(key);
      /** Goes on with Tab until an element has the focus; never backwards. */
      const tabTo = async (isThere: string) => {
        for (let presses = 0; presses < MOST_TABS; presses += 1) {
          await press('Tab');
          if (await page.evaluate(`document.activeElement.${isThere}`)) return;
        }
        throw new Error(`Tab does not lead to ${isThere}.`);
      };
      const type = async (path: string, text: string) => {
        await tabTo(`dataset.path === '${path}'`);
        await page.keyboard.type(text);
      };
      await type('name', 'by-keys');
      await type('listing.title', 'Made by keys');
      await type('description', 'Answers in text, for any task.');
      await tabTo(`value === 'declarative'`);
      await press('Space');
      await type('model.provider', 'self');
      await type('model.model', 'stand-in');
      await type('model.endpoint_url', model.baseUrl);
      await type('model_key', 'a-key-of-the-form');
      await type('system_prompt', 'You answer.');
      await type('listing.price_lamports', String(PRICE / 1e9));
      await tabTo(`textContent === 'Register this agent'`);
      await press('Enter');
      const id = await registeredId(page);
      await tabTo(`textContent === 'Publish'`);
      await press('Space');
      await says(page, `Published: ${id} is active`);
      expect(wallet.transactions).toBe(1);
      await tabTo(`id === 'published-listing'`);
      await press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Made by keys' }).waitFor();
    });
  });

  test('publishes a connected agent by its manifest file, and shows its secret once [ADP-11] [SVC-30]', async () => {
    const { system_prompt: _, model: __, ...fields } = textAgent(model.baseUrl, { name: 'file-made' });
    let secret = '';
    model.answerOthers(createAgentHandler({ webhookSecret: () => secret, run: () => 'From an endpoint.' }));
    const manifest = { ...fields, entrypoint_url: new URL('/agent', model.baseUrl).href };
    let id = '';
    const creator = await visiting(async (page) => {
      await logIn(page);
      await upload(page, manifest);
      await page.getByRole('button', { name: 'Register this manifest' }).click();
      id = await registeredId(page);
      secret = (await page.getByLabel('The webhook secret').textContent()) ?? '';
      expect(secret).toMatch(/^whsec_/);
      // Loaded again, the page goes on where it was with the tab's login, without the secret.
      await page.reload();
      expect(await registeredId(page)).toBe(id);
      expect(await page.content()).not.toContain(secret);
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await says(page, `Published: ${id} is active`);
      // A lost secret is replaced on the agent's page.
      await page.getByRole('link', { name: 'Manage it' }).click();
      await logIn(page);
      await page.getByRole('link', { name: 'Webhook secret' }).click();
      await page.getByRole('button', { name: 'Replace the webhook secret' }).click();
      await says(page, 'The secret was replaced.');
      const replaced = (await page.getByLabel('The webhook secret').textContent()) ?? '';
      expect(replaced).toMatch(/^whsec_/);
      expect(replaced).not.toBe(secret);
      secret = replaced;
    });
    expect(await rentedAnswer(id)).toMatchObject({ status: 'completed', output: 'From an endpoint.' });
    expect((await creator.client.listAgents()).agents).toMatchObject([{ listing_id: id, status: 'active' }]);
  });

  test('is told every fault, beside its field, and keeps the typed values [SVC-30]', async () => {
    const creator = await visiting(async (page, wallet) => {
      await logIn(page);
      await page.getByLabel('Name, in kebab-case').fill('Not Kebab');
      await page.getByLabel('JSON Schema of the input').fill('{"type": ');
      await page.getByLabel('Price in SOL').first().fill('cheap');
      await page.getByLabel('System prompt').fill('A long prompt that took an hour.');
      await page.getByRole('button', { name: 'Register this agent' }).click();
      await says(page, /^It was not registered\. \d+ things are wrong/);
      for (const [label, wrong] of [
        ['Name, in kebab-case', /^name must be kebab-case/],
        ['Description', /^description /],
        ['Name of the model', /^model\.model is required/],
        ['JSON Schema of the input', /^input_schema is not JSON/],
      ] as const) {
        const field = page.getByLabel(label).first();
        expect(await field.getAttribute('aria-invalid')).toBe('true');
        const described = await field.getAttribute('aria-describedby');
        expect(await page.locator(`#${described?.split(' ')[0]}`).textContent()).toMatch(wrong);
      }
      // The first of them has the focus, and the typed values are kept.
      expect(await page.evaluate('document.activeElement.dataset.path')).toBe('name');
      expect(await page.getByLabel('System prompt').inputValue()).toBe('A long prompt that took an hour.');
      expect(wallet.transactions).toBe(0);
    });
    expect((await creator.client.listAgents()).agents).toEqual([]);
  });

  test('is told a low price in SOL, then a fault that only the marketplace can find, and corrects them in place [SVC-30]', async () => {
    const SCRIPT = '<img src=x onerror="document.title=\'taken\'">';
    const manifest = textAgent('https://10.0.0.1/v1', {
      name: 'corrected',
      description: `${SCRIPT} \u202e Answers in text, for any task.`,
      listing: { rental_model: 'per_query', price_lamports: 1_000, title: SCRIPT, sample_output: [SCRIPT] },
    });
    await visiting(async (page) => {
      await logIn(page);
      await page.getByText('Publish with a manifest file').click();
      const buffer = Buffer.alloc(300_000, 'x');
      const huge = { name: 'agent.json', mimeType: 'application/json', buffer };
      await page.getByLabel('Manifest file').setInputFiles(huge);
      await says(page, 'The file has 300000 bytes: a manifest has at most 65536.');
      await page.getByText('Publish with a manifest file').click();
      await upload(page, manifest);
      await page.locator('#manifest-key').fill('a-key-that-stays');
      await page.getByRole('button', { name: 'Register this manifest' }).click();
      await says(page, /^It was not registered\. One thing is wrong/);
      const wrong = () => page.locator('#manifest-wrong li').allTextContents();
      expect(await wrong()).toEqual(['listing.price_lamports of a per_query listing is at least 0.0002 SOL']);
      const field = page.getByLabel('Manifest', { exact: true });
      await field.fill((await field.inputValue()).replace('1000', String(PRICE)));
      await page.getByRole('button', { name: 'Register this manifest' }).click();
      await expect.poll(wrong).toEqual([expect.stringMatching(/^model\.endpoint_url cannot be called/)]);
      expect(await page.locator('#manifest-key').inputValue()).toBe('a-key-that-stays');
      await field.fill((await field.inputValue()).replace('https://10.0.0.1/v1', model.baseUrl));
      await page.getByRole('button', { name: 'Register this manifest' }).click();
      const id = await registeredId(page);
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await says(page, `Published: ${id} is active`);
      expect(await page.title()).not.toBe('taken');
    });
  });

  test('that refuses publishes nothing, and publishes then, with the terms that the manifest lacked [SVC-30]', async () => {
    const { listing: _, ...manifest } = textAgent(model.baseUrl, { name: 'bare' });
    const creator = await visiting(async (page, wallet) => {
      await logIn(page);
      await upload(page, manifest);
      await page.getByRole('button', { name: 'Register this manifest' }).click();
      const id = await registeredId(page);
      const publish = page.getByRole('button', { name: 'Publish', exact: true });
      const price = page.locator('#missing-terms').getByLabel('Price in SOL');
      await price.fill('a lot');
      await publish.click();
      await says(page, 'It was not published. Type an amount of SOL');
      await price.fill(String(PRICE / 1e9));
      wallet.refuses = true;
      await publish.click();
      await says(page, 'It was not published. The person said no.');
      wallet.refuses = false;
      await publish.click();
      await says(page, `Published: ${id} is active`);
    });
    const { agents } = await creator.client.listAgents();
    expect(agents).toMatchObject([{ status: 'active', rental_model: 'per_query', price_lamports: PRICE }]);
  });
});
