import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { samplePages } from '@agent-rental/server/testing';
import { accessibilityViolations, browserPath, looksOf, openBrowser } from '../support/browser/browser.js';
import { openSamplePages, takePictures } from '../support/browser/pictures.js';
import { sampleOf, SEED } from '../support/form.js';

/** `LOOKS=write` writes the pictures anew. */
const FOLDER = fileURLToPath(new URL('../../looks/', import.meta.url));
const MUST_WRITE = process.env['LOOKS'] === 'write';
/** A word that moved by a line is more than this; an edge that is drawn a little differently is less. */
const MOST_DIFFERENT = 0.002;
/** Pages that CI gives to axe; the full form gives all of them. */
const JUDGED_PAGES = 6;

describe.runIf(browserPath !== undefined)('the pages', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  test(
    'look as their pictures in test/looks, in light, dark and on a phone [SVC-17]',
    { timeout: 180_000 },
    async (context) => {
      const different: string[] = [];
      if (MUST_WRITE) await mkdir(FOLDER, { recursive: true });
      for await (const { name, png } of takePictures(browser)) {
        const file = `${FOLDER}${name}.png`;
        if (MUST_WRITE) {
          await writeFile(file, png);
          continue;
        }
        const before = await readFile(file);
        const share = png.equals(before) ? 0 : differenceOf(before, png);
        // Another browser or other fonts draw each letter differently: there is nothing to compare.
        context.skip(name.startsWith('probe-') && share > 0, 'This machine draws text differently.');
        if (share <= MOST_DIFFERENT) continue;
        await writeFile(`${FOLDER}${name}.new.png`, png);
        different.push(`${name}: ${(share * 100).toFixed(2)} %, see test/looks/${name}.new.png`);
      }
      expect(different, 'where the change is meant, LOOKS=write takes the pictures anew').toEqual([]);
    },
  );

  test(
    'have no violation that axe knows of, with every hidden part shown [SVC-17]',
    { timeout: 180_000 },
    async () => {
      const judged = Object.fromEntries(sampleOf(Object.entries(samplePages()), JUDGED_PAGES, SEED));
      const found: string[] = [];
      for await (const { name, page } of openSamplePages(browser, judged, looksOf('judged'))) {
        found.push(...(await accessibilityViolations(page)).map((fault) => `${name}: ${fault}`));
      }
      expect(found).toEqual([]);
    },
  );
});

/** The share of pixels that differ; 1 for another size. */
function differenceOf(before: Buffer, after: Buffer): number {
  const [old, now] = [PNG.sync.read(before), PNG.sync.read(after)];
  const { width, height } = old;
  if (width !== now.width || height !== now.height) return 1;
  return pixelmatch(old.data, now.data, undefined, width, height) / (width * height);
}
