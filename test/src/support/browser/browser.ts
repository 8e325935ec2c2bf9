import { spawnSync } from 'node:child_process';
import axe from 'axe-core';
import {
  chromium,
  type Browser,
  type BrowserContextOptions,
  type BrowserServer,
  type Page,
} from 'playwright-core';

// The shell, which has no windows, takes half the processor time of the others.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The browser of this machine; undefined where there is none. */
export const browserPath = NAMES.map((name) =>
  spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim(),
).find((path) => path !== '');

/** One browser for all test files of this process. Playwright ends it with the process. */
let shared: Promise<BrowserServer> | undefined;

/** Connects to the browser of this machine, which the first call starts. Closing it closes its own pages only. */
export async function openBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error(`No browser: install one of ${NAMES.join(', ')}.`);
  // Containers run tests as root, for whom the browser has no sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  shared ??= chromium.launchServer({ executablePath: browserPath, args });
  return chromium.connect((await shared).wsEndpoint());
}

/** Ends the shared browser, for programs. The process of a test file ends it with itself. */
export async function closeSharedBrowser(): Promise<void> {
  await (await shared)?.close();
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

/** The screens and colour schemes in which a page is checked. */
export const LOOKS: Readonly<Record<'light' | 'dark' | 'phone', BrowserContextOptions>> = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light', hasTouch: true },
};

/** The faults that axe finds in a page, by the rules of WCAG 2.2 A and AA and its best practices. */
export async function accessibilityViolations(page: Pick<Page, 'evaluate'>): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
