import type { openBrowser } from '@agent-rental/test/support/browser/browser';
import { addTestWallet } from '@agent-rental/test/support/browser/test-wallet';
import type { Keypair } from '@solana/web3.js';

/** Chooses another window, and gives the milliseconds until so many drawings are in the page, with their request. */
const REDRAW = (window: string, drawings: number) => `new Promise((done) => {
  const select = document.querySelector('#window');
  const charts = document.querySelector('#charts');
  charts.replaceChildren();
  const startedAt = performance.now();
  const observer = new MutationObserver(() => {
    if (charts.querySelectorAll('svg.chart').length < ${drawings}) return;
    observer.disconnect();
    requestAnimationFrame(() => done(performance.now() - startedAt));
  });
  observer.observe(charts, { subtree: true, childList: true });
  select.value = '${window}';
  select.dispatchEvent(new Event('change'));
})`;

/** A page whose charts are drawn again and again. */
export interface DrawnPage {
  /** Milliseconds from the choice of a window until its charts are drawn. */
  draw(window: '7d' | '30d'): Promise<number>;
  close(): Promise<void>;
}

/** Opens a page of the dashboard and logs its wallet in. */
export async function openCharts(
  browser: Awaited<ReturnType<typeof openBrowser>>,
  { address, wallet, drawings }: { address: string; wallet: Keypair; drawings: number },
): Promise<DrawnPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await addTestWallet(page, wallet, 'solana:localnet');
  await page.goto(address);
  await page.getByRole('button', { name: 'Log in with Test wallet' }).click();
  await page
    .locator('svg.chart')
    .nth(drawings - 1)
    .waitFor();
  return {
    draw: (window) => page.evaluate<number>(REDRAW(window, drawings)),
    close: () => context.close(),
  };
}
