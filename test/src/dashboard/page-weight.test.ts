import { Keypair } from '@solana/web3.js';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { browserPath, openBrowser } from '../support/browser/browser.js';
import { addTestWallet } from '../support/browser/test-wallet.js';
import { publishAgent, textAgent } from '../support/agents/agents.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';

/** Records the time at which the script has shown its part of the page. */
const NOTE_READY = `new MutationObserver(() => {
  const part = document.querySelector('section[data-chain]');
  if (part && !part.hidden) globalThis.readyMs ??= performance.now();
}).observe(document, { subtree: true, childList: true, attributeFilter: ['hidden'] })`;
/** Milliseconds since the navigation began; for a page without a script, until its HTML was loaded. */
const READY_MS = `globalThis.readyMs ?? performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd`;
/** With PAGE_FIGURES the figures are printed, of as many visits. */
const VISITS = process.env['PAGE_FIGURES'] === undefined ? 1 : 9;

/** A full page of agents. */
const CARDS = 24;
/** The page where renters browse, with this test's agents alone. */
const BROWSE = '/?q=weighed';

interface Weight {
  requests: number;
  bytes: number;
  readyMs: number;
}

describe.runIf(browserPath !== undefined)('the pages', () => {
  let marketplace: Marketplace;
  let browser: Browser;
  beforeAll(async () => {
    marketplace = await attach(inject('stateDir'));
    browser = await openBrowser();
  }, 60_000);
  afterAll(() => browser?.close());

  /** Opens a page in a browser with an empty cache, or with the script in its cache. */
  async function weigh(path: string, { isWarm }: { isWarm: boolean }): Promise<Weight> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await addTestWallet(page, Keypair.generate(), 'solana:localnet');
    await page.addInitScript(NOTE_READY);
    const address = new URL(path, marketplace.dev.base_url).href;
    if (isWarm) await page.goto(address, { waitUntil: 'networkidle' });
    const network = await context.newCDPSession(page);
    await network.send('Network.enable');
    let [requests, bytes] = [0, 0];
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      if (encodedDataLength > 0) requests += 1;
      bytes += encodedDataLength;
    });
    await page.goto(address, { waitUntil: 'networkidle' });
    const readyMs = await page.evaluate<number>(READY_MS);
    await context.close();
    return { requests, bytes, readyMs };
  }

  test('are one request of a few kilobytes, and once the script, which is kept [SVC-17]', async () => {
    // The first requests after a start get gzip, until the smaller form is made.
    const html = await (await fetch(`${marketplace.dev.base_url}/dashboard`)).text();
    const script = marketplace.dev.base_url + (/src="([^"]+)"/.exec(html)?.[1] ?? '');
    const sent = async () =>
      (await fetch(script, { headers: { 'accept-encoding': 'br' } })).headers.get('content-encoding');
    await expect.poll(sent, { timeout: 30_000 }).toBe('br');
    const { id } = marketplace.listing('per_query');
    const { listing, ...manifest } = textAgent('https://agent.invalid/v1');
    for (let half = 0; half < 2; half += 1) {
      const creator = await newParticipant(marketplace);
      const body = { ...manifest, listing: { ...listing, title: 'Weighed' } };
      const publish = () => publishAgent(creator, body, { unverified: true });
      await Promise.all(Array.from({ length: CARDS / 2 }, publish));
    }
    const browse = await (await fetch(new URL(BROWSE, marketplace.dev.base_url))).text();
    expect(browse.match(/class="card agent-card"/g)).toHaveLength(CARDS);
    const rows: Record<string, string | number>[] = [];
    for (const path of [
      BROWSE,
      `/dashboard/listings/${id}`,
      `/dashboard/rent/${id}`,
      '/dashboard',
      '/dashboard/runs',
    ]) {
      for (const isWarm of path === BROWSE ? [false] : [false, true]) {
        const visits: Weight[] = [];
        for (let visit = 0; visit < VISITS; visit += 1) visits.push(await weigh(path, { isWarm }));
        const [first] = visits as [Weight];
        const withScript = !isWarm && path !== BROWSE;
        expect(first.requests, path).toBe(withScript ? 2 : 1);
        expect(first.bytes, path).toBeLessThan(withScript ? 190_000 : path === BROWSE ? 20_000 : 40_000);
        const sorted = visits.map(({ readyMs }) => Math.round(readyMs)).sort((a, b) => a - b);
        rows.push({
          page: path.replace(BROWSE, '/').replace(id, ':id'),
          script: path === BROWSE ? 'none' : isWarm ? 'kept' : 'loaded',
          requests: first.requests,
          KB: (first.bytes / 1000).toFixed(1),
          'ready, median ms': sorted[Math.floor(VISITS / 2)] ?? 0,
        });
      }
    }
    // oxlint-disable-next-line no-console
    if (process.env['PAGE_FIGURES'] !== undefined) console.table(rows);
  }, 240_000);
});
