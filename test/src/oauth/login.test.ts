import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { accessibilityViolations, browserPath, openBrowser } from '../support/browser/browser.js';
import { addTestWallet } from '../support/browser/test-wallet.js';
import {
  attach,
  newStateDir,
  removeStateDir,
  startMarketplace,
  type Marketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { listenForCallback } from '../support/oauth/callback.js';
import { serveClientDocument, type PublishedClient } from '../support/oauth/client-document.js';
import { consentInBrowser } from '../support/oauth/consent.js';
import { newLoginProvider, type LoginProvider } from '../support/oauth/login-provider.js';
import { newParticipant } from '../support/participant.js';

const ABOUT = { name: 'a-client-that-is-not-ours', version: '1.0.0' };

/** A client of the official SDK, of either version, with its transport for the login. */
function newClient(version: 'v1' | 'v2', mcpUrl: string, authProvider: LoginProvider) {
  const url = new URL(mcpUrl);
  if (version === 'v1') {
    const transport = () => new HttpV1(url, { authProvider });
    const client = new ClientV1(ABOUT);
    return {
      connect: () => client.connect(transport()),
      finish: (answer: URLSearchParams) => transport().finishAuth(answer.get('code') ?? ''),
      call: (name: string, args = {}) => client.callTool({ name, arguments: args }),
      close: () => client.close(),
    };
  }
  const transport = () => new HttpV2(url, { authProvider });
  const client = new ClientV2(ABOUT);
  return {
    connect: () => client.connect(transport()),
    finish: (answer: URLSearchParams) => transport().finishAuth(answer),
    call: (name: string, args = {}) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

describe.runIf(browserPath !== undefined)('a person who gives a client the address of MCP alone', () => {
  let browser: Browser;
  let document: PublishedClient;
  let stateDir: string;
  /** It may read the document, which is on this machine. */
  let trusting: OwnMarketplace;
  beforeAll(async () => {
    browser = await openBrowser();
    document = await serveClientDocument({
      client_name: 'Documented',
      redirect_uris: ['http://127.0.0.1/callback'],
    });
    stateDir = await newStateDir();
    trusting = await startMarketplace(stateDir, {
      EXAMPLES: 'off',
      ALLOW_LOOPBACK: new URL(document.url).origin,
      NODE_EXTRA_CA_CERTS: document.certificateFile,
    });
  });
  afterAll(async () => {
    await browser?.close();
    await trusting?.stop();
    await document?.close();
    await removeStateDir(stateDir);
  });

  /** Logs in as a person does, with the real page, and calls a tool. Gives the texts that the wallet signed. */
  async function logIn(marketplace: Marketplace, version: 'v1' | 'v2', clientMetadataUrl?: string) {
    const person = await newParticipant(marketplace);
    const callback = await listenForCallback();
    onTestFinished(() => callback.close());
    const provider = newLoginProvider(callback.url, clientMetadataUrl);
    const client = newClient(version, marketplace.dev.mcp_url, provider);
    onTestFinished(() => client.close());

    await expect(client.connect()).rejects.toThrow(/Unauthorized/i);
    const answered = callback.next();
    const asked = await consentInBrowser(browser, provider.opened(), person.wallet, async (page) => {
      await page.getByLabel('Limit per 24 hours, in SOL').fill('0.02');
      expect(await page.locator('main').textContent()).toContain(new URL(callback.url).host);
    });
    const answer = await answered;
    expect(answer.get('state')).toBe('a-state');
    expect(answer.get('iss')).toBe(marketplace.dev.base_url);
    await client.finish(answer);
    await client.connect();
    expect(await client.call('list_rentals')).not.toMatchObject({ isError: true });
    return { person, provider, asked, client };
  }

  test.each(['v1', 'v2'] as const)(
    'logs the official SDK %s in, by dynamic registration [ID-41]',
    async (version) => {
      const marketplace = await attach(inject('stateDir'));
      const { person, asked, provider } = await logIn(marketplace, version);
      expect(provider.clientInformation()?.client_id).toMatch(/^arc_/);
      expect(asked.messages).toHaveLength(1);
      expect(asked.messages[0]).toMatch(
        new RegExp(
          `^agent-rental: connect the app "A test client"\nclient: registered by itself, [0-9a-f]{16}\n` +
            `answers to: ${provider.redirectUrl}\nresource: ${marketplace.dev.mcp_url}\nscopes: run, rent\n` +
            `policy: \\{"max_day_lamports":20000000\\}\nwallet: ${person.signer.address}\nagent-rental:auth:`,
        ),
      );
      expect((await person.client.listApiKeys()).api_keys).toMatchObject([
        {
          label: 'A test client',
          scopes: ['run', 'rent'],
          policy: { max_day_lamports: 20_000_000 },
          app: { redirect_host: new URL(provider.redirectUrl).host },
        },
      ]);
    },
  );

  test.each(['v1', 'v2'] as const)(
    'logs the official SDK %s in, by its metadata document [ID-41]',
    async (version) => {
      const { provider, asked } = await logIn(trusting, version, document.url);
      expect(provider.clientInformation()?.client_id).toBe(document.url);
      expect(asked.messages[0]).toContain(`"Documented"\nclient: ${document.url}\n`);
      // Kept for both.
      expect(document.requests()).toBe(1);
    },
  );

  test('sees the app beside the API keys, and disconnects it there [ID-41]', async () => {
    const marketplace = await attach(inject('stateDir'));
    const { person, client } = await logIn(marketplace, 'v1');
    expect((await person.client.listApiKeys()).api_keys).toHaveLength(1);
    const context = await browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    await addTestWallet(page, person.wallet, 'solana:localnet');
    await page.goto(new URL('/dashboard/keys', marketplace.dev.base_url).href);
    await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
    await page.getByText('It calls itself A test client').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    page.once('dialog', (asked) => asked.accept());
    await page.getByRole('button', { name: 'Disconnect A test client' }).click();
    await page.getByText('No app is connected.').waitFor();
    await context.close();
    await expect(client.call('list_rentals')).rejects.toThrow();
  });
});
