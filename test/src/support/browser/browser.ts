import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { sampleOf, SEED } from '../form.js';

// The shell, which has no windows, takes half the processor time of the others.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The browser of this machine; undefined where there is none. */
export const browserPath = NAMES.map((name) =>
  spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim(),
).find((path) => path !== '');

/** One browser for all test files of this process. Playwright ends it with the process. */
let shared: Promise<{ browser: Browser; end: () => Promise<void> }> | undefined;

async function launch(): Promise<{ browser: Browser; end: () => Promise<void> }> {
  if (browserPath === undefined) throw new Error(`No browser: install one of ${NAMES.join(', ')}.`);
  // Containers run tests as root, for whom the browser has no sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath: browserPath, args });
  const end = browser.close.bind(browser);
  browser.close = async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
  return { browser, end };
}

/** The browser of this machine, which the first call starts. Closing it closes its pages only. */
export async function openBrowser(): Promise<Browser> {
  return (await (shared ??= launch())).browser;
}

/** Ends the shared browser, for programs. The process of a test file ends it with itself. */
export async function closeSharedBrowser(): Promise<void> {
  await (await shared)?.end();
}

/** Makes a page of the local network claim to be on devnet, where there is no development wallet. */
export async function sayDevnet(page: Page): Promise<void> {
  await page.route(/\/dashboard(\/(?!assets|test-funds)|$)/, async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    const body = html
      .replaceAll('solana:localnet', 'solana:devnet')
      .replaceAll(/ data-test-money(="")?/g, '');
    await route.fulfill({ response, body });
  });
}

/** The name of a screen and its colour scheme. */
export type Look = 'light' | 'dark' | 'phone';

/** The screens and colour schemes in which a page is checked. */
export const LOOKS: Readonly<Record<Look, BrowserContextOptions>> = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light', hasTouch: true },
};

/** The looks in which the tests check a page: a sample in CI, which differs between pages. */
export function looksOf(page: string): Look[] {
  return sampleOf(Object.keys(LOOKS) as Look[], 1, SEED + page.length);
}

/** Half the size of the readable form, which takes a browser a third longer to load. */
const axe = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The faults that axe finds in a page, by the rules of WCAG 2.2 A and AA and its best practices. */
export async function accessibilityViolations(page: Pick<Page, 'evaluate'>): Promise<string[]> {
  await page.evaluate(await axe);
  const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    'axe.run().then((found) => found.violations)',
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
