import { samplePages } from '@agent-rental/server/testing';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Look } from './browser.js';

/** The screens and colour schemes of the pictures. Less than half of the usual size keeps the files small. */
const LOOKS: Readonly<Record<Look, BrowserContextOptions>> = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: 'light', deviceScaleFactor: 0.4 },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark', deviceScaleFactor: 0.4 },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', deviceScaleFactor: 0.4 },
};
const LONGEST_PX = 3_000;
const PROBE =
  '<!doctype html><meta charset="utf-8"><p>Hamburgefonstiv 0123 <b>قارئ</b> <code>code</code></p>';

/** A picture of a page, as PNG. */
export interface Picture {
  readonly name: string;
  readonly png: Buffer;
}

/** Opens each sample page with its hidden parts shown, in each look: the parts of all its states are then on it. */
export async function* openSamplePages(
  browser: Browser,
  pages: Readonly<Record<string, string>>,
  looks: readonly Look[] = ['light', 'dark', 'phone'],
): AsyncGenerator<{ name: string; page: Page }> {
  for (const look of looks) {
    const context = await browser.newContext(LOOKS[look]);
    const page = await context.newPage();
    for (const [name, html] of Object.entries(pages)) {
      await page.setContent(
        html
          .replace(/<script[^>]*><\/script>/, '')
          .replaceAll(/<(\/?)noscript>/g, '<$1div>')
          .replaceAll(/<(section|div|p|button|label|li|h2)([^>]*) hidden(?=[ >])/g, '<$1$2'),
      );
      yield { name: `${name}-${look}`, page };
    }
    await context.close();
  }
}

/** Takes the pictures of all sample pages. The first, `probe`, shows only text: it tells machines apart. */
export async function* takePictures(browser: Browser): AsyncGenerator<Picture> {
  for await (const { name, page } of openSamplePages(browser, { probe: PROBE, ...samplePages() })) {
    const { width = 0 } = page.viewportSize() ?? {};
    const whole = await page.locator('html').boundingBox();
    const clip = { x: 0, y: 0, width, height: Math.min(LONGEST_PX, Math.ceil(whole?.height ?? 0)) };
    yield { name, png: await page.screenshot({ fullPage: true, clip }) };
  }
}
