import type { AppGrant, AuthorizationRequest } from '@agent-rental/contract';
import { connectApp } from '@agent-rental/sdk/solana';
import type { Keypair } from '@solana/web3.js';
import type { Browser, Page } from 'playwright-core';
import { addTestWallet, type AskedWallet } from '../browser/test-wallet.js';
import type { Participant } from '../participant.js';

/** Opens the page of consent with a wallet in the browser, looks at it, and connects the app. Gives the wallet's requests. */
export async function consentInBrowser(
  browser: Browser,
  url: URL | string,
  wallet: Keypair,
  look: (page: Page) => Promise<void> = async () => undefined,
): Promise<AskedWallet> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const asked = await addTestWallet(page, wallet, 'solana:localnet');
  await page.goto(String(url));
  await look(page);
  await page.getByRole('button', { name: 'Connect with Test wallet' }).click();
  // The app has the answer once its page is there.
  await page.waitForURL((now) => now.origin !== new URL(url).origin);
  await context.close();
  return asked;
}

/** The data that the page of consent carries for its script. */
export function readConsentPage(html: string): {
  request: AuthorizationRequest;
  grant: Pick<AppGrant, 'client' | 'name' | 'redirect_uri' | 'resource'>;
} {
  const read = (name: string): unknown => {
    const [, text = ''] = new RegExp(`data-${name}="([^"]*)"`).exec(html) ?? [];
    const plain = text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
    return JSON.parse(plain);
  };
  return { request: read('request') as never, grant: read('grant') as never };
}

/** Does the work of the page of consent without a browser. Gives the next address of the browser. */
export async function consentOverHttp(
  url: URL | string,
  { client, signer }: Pick<Participant, 'client' | 'signer'>,
  terms: Partial<Pick<AppGrant, 'scopes' | 'policy'>> = {},
): Promise<URL> {
  const response = await fetch(url);
  const html = await response.text();
  if (!response.ok) throw new Error(`The page of consent answers ${response.status}: ${html}`);
  const { request, grant } = readConsentPage(html);
  const { redirect_to: next } = await connectApp(client, signer, request, {
    ...grant,
    scopes: ['run', 'rent'],
    ...terms,
  });
  return new URL(next);
}
