import { readdir, rm, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner, rent } from '@agent-rental/sdk/solana';
import { startMailServer } from '@agent-rental/server/testing';
import { closeSharedBrowser, openBrowser, LOOKS } from '@agent-rental/test/support/browser/browser';
import { addTestWallet } from '@agent-rental/test/support/browser/test-wallet';
import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { call, errorOf } from '@agent-rental/test/support/http';
import { newTestApp } from '@agent-rental/test/support/oauth/app';
import { Keypair } from '@solana/web3.js';
import type { BrowserContextOptions } from 'playwright-core';
import { sendMails } from './mails.js';

readCommandLine({
  command: 'npm run battery -- screenshots',
  summary:
    'Takes pictures of each page and message for people on a new marketplace, and replaces those in docs/pages.',
  options: {},
});

const FOLDER = fileURLToPath(new URL('../../../docs/pages/', import.meta.url));
/** Low, because a picture only shows the look of a page. */
const QUALITY = 60;
const LONGEST_PX = 2_600;
/** Ends when the placeholder of loading is there: an animation shows it late. */
const PLACEHOLDER_IS_THERE = `Promise.all(document.getAnimations().flatMap((one) =>
  one.animationName === 'appear' ? [one.finished] : []))`;
const operator = Keypair.generate();

interface Shot {
  readonly name: string;
  /** Or a message to show. */
  readonly path: string | { readonly html: string };
  /** Logs in with this wallet first. */
  readonly as?: Keypair;
  /** A text on the complete page. */
  readonly until: string | RegExp;
  /** Loads the complete page again, and keeps the wallet's data back. */
  readonly isSlow?: boolean;
}

/** Rents and runs the example agents, and requests an approval. @returns all pages. */
async function preparePages(): Promise<Shot[]> {
  const as = await marketplace.wallet('renter');
  const signer = keypairSigner(as);
  const client = createClient({ baseUrl: marketplace.dev.base_url, signer });
  const creator = await marketplace.wallet('creator');
  for (const { id } of marketplace.dev.listings) {
    await rent(client, signer, id).catch(() => undefined);
  }
  const perTask = marketplace.listing('per_query');
  const request = await marketplace.request('per_query');
  const { run_id: runId } = await client.execute(request as never);
  const { price_lamports: price } = await client.getListing(perTask.id);
  const { key } = await createApiKey(client, signer, 'my coding agent', {
    policy: { ask_above_lamports: price - 1, max_day_lamports: 50_000_000 },
  });
  const asked = await call(marketplace, 'POST', '/v1/execute', { token: key, body: request });
  const { approval } = errorOf(asked.body) as { approval: { url: string } };
  const app = await newTestApp(marketplace, { client_name: 'Example Chat' });
  const consent = app.authorizationUrl();
  const ownAgent = `/dashboard/creator/agents/${perTask.id}`;
  const { mails, confirmPath, unsubscribePath } = await sendMails(marketplace, mailServer);
  return [
    ...mails.map(({ name, html }) => ({ name, path: { html }, until: 'ada@reader.example' })),
    { name: 'confirm', path: confirmPath, until: 'Confirm' },
    { name: 'unsubscribe', path: unsubscribePath, until: 'Unsubscribe' },
    { name: 'events', path: '/dashboard/events', as, until: 'my coding agent' },
    { name: 'browse', path: '/', until: perTask.title },
    { name: 'listing', path: `/dashboard/listings/${perTask.id}`, until: perTask.title },
    { name: 'profile', path: `/creators/${creator.publicKey.toBase58()}`, until: perTask.title },
    { name: 'rent', path: `/dashboard/rent/${perTask.id}`, until: 'Test wallet' },
    { name: 'home', path: '/dashboard', as, until: perTask.title },
    { name: 'home-new', path: '/dashboard', as: Keypair.generate(), until: 'You have rented nothing yet.' },
    { name: 'home-slow', path: '/dashboard', as, until: perTask.title, isSlow: true },
    { name: 'no-results', path: '/?q=zzzz', until: '0 agents' },
    { name: 'operator', path: '/dashboard/operator', as: operator, until: 'Revenue in the last 30 days' },
    { name: 'runs', path: '/dashboard/runs', as, until: perTask.id },
    { name: 'run', path: `/dashboard/runs/${runId}`, as, until: 'completed' },
    { name: 'keys', path: '/dashboard/keys', as, until: 'my coding agent' },
    { name: 'approvals', path: '/dashboard/approvals', as, until: 'my coding agent' },
    { name: 'approval', path: new URL(approval.url).pathname, as, until: 'my coding agent' },
    { name: 'consent', path: consent.pathname + consent.search, until: 'Example Chat' },
    { name: 'events', path: '/dashboard/events', as, until: 'You have no webhook.' },
    { name: 'creator', path: '/dashboard/creator', as: creator, until: perTask.title },
    { name: 'publish', path: '/dashboard/creator/publish', as: creator, until: 'Register this agent' },
    { name: 'own-agent', path: ownAgent, as: creator, until: perTask.title },
    { name: 'not-found', path: '/dashboard/listings/nothing-here', until: 'There is nothing to show' },
  ];
}

/** Opens a page in a new browser context, and waits until it is complete. */
async function open(
  { path, as, until, isSlow = false }: Shot,
  fallback: Keypair,
  look: BrowserContextOptions,
) {
  const context = await browser.newContext(look);
  const page = await context.newPage();
  await addTestWallet(page, as ?? fallback, 'solana:localnet');
  if (typeof path === 'string') await page.goto(marketplace.dev.base_url + path);
  else await page.setContent(path.html);
  if (as !== undefined) await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
  await page.getByText(until).locator('visible=true').first().waitFor();
  await page.waitForLoadState('networkidle');
  if (isSlow) {
    // A route that is never answered keeps its request open.
    await page.route('**/v1/credentials?**', () => undefined);
    await page.reload();
    await page.locator('[data-loading]').waitFor();
    await page.evaluate(PLACEHOLDER_IS_THERE);
  }
  return page;
}

const stateDir = await newStateDir();
const mailServer = await startMailServer();
const marketplace = await startMarketplace(stateDir, {
  OPERATOR_WALLETS: operator.publicKey.toBase58(),
  SMTP_URL: mailServer.url,
  SMTP_FROM: 'Agent rental <no-reply@market.example>',
});
const browser = await openBrowser();
try {
  const shots = await preparePages();
  const fallback = await marketplace.wallet('renter');
  const old = (await readdir(FOLDER)).filter((name) => name.endsWith('.jpg'));
  await Promise.all(old.map((name) => rm(FOLDER + name)));
  for (const shot of shots) {
    for (const [name, look] of Object.entries(LOOKS)) {
      // A mail program has its own colours.
      if (typeof shot.path !== 'string' && look.colorScheme === 'dark') continue;
      const page = await open(shot, fallback, look);
      const file = `${FOLDER}${shot.name}-${name}.jpg`;
      const { width = 0 } = page.viewportSize() ?? {};
      const height = Math.min(LONGEST_PX, await page.evaluate('document.documentElement.scrollHeight'));
      const clip = { x: 0, y: 0, width, height };
      // A bar at the bottom of the screen is then at the bottom of the picture.
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: file, type: 'jpeg', quality: QUALITY, fullPage: true, clip });
      process.stdout.write(`${shot.name}, ${name}: ${Math.round((await stat(file)).size / 1_024)} KB\n`);
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await closeSharedBrowser();
  await marketplace.stop();
  await mailServer.close();
  await removeStateDir(stateDir);
}
