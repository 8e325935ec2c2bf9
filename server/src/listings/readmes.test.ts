import { afterAll, expect, it } from 'vitest';
import type { MarkdownRenderer } from '../platform/markdown/render-markdown.js';
import { insertListing, openTestDatabase } from '../testing/index.js';
import { createReadmes } from './readmes.js';

const database = await openTestDatabase();
afterAll(() => database.close());

/** A renderer that answers when it is told to. */
function heldRenderer(waiting = 0) {
  const texts: string[] = [];
  let release = () => undefined as void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const renderer: MarkdownRenderer = {
    waiting,
    render: async (markdown) => {
      texts.push(markdown);
      await released;
      return `<p>${markdown}</p>`;
    },
    close: async () => undefined,
  };
  return { renderer, texts, release };
}

it('a README is rendered once for all visits and replicas, and again when it has changed [LST-46]', async () => {
  const { id } = await insertListing(database.db);
  const { renderer, texts, release } = heldRenderer();
  const readmes = createReadmes(database.db, renderer);
  const visits = Promise.all([readmes.htmlOf(id, 'one'), readmes.htmlOf(id, 'one')]);
  await expect.poll(() => texts).toEqual(['one']);
  release();
  expect(await visits).toEqual(['<p>one</p>', '<p>one</p>']);
  expect(await createReadmes(database.db, renderer).htmlOf(id, 'one')).toBe('<p>one</p>');
  expect(texts).toEqual(['one']);
  expect(await readmes.htmlOf(id, 'two')).toBe('<p>two</p>');
  expect(await readmes.htmlOf(id, 'two')).toBe('<p>two</p>');
  expect(texts).toEqual(['one', 'two']);
});

it('a page does not wait behind many READMEs: it is shown without its own [LST-46]', async () => {
  const { id } = await insertListing(database.db);
  const { renderer, texts } = heldRenderer(20);
  expect(await createReadmes(database.db, renderer).htmlOf(id, 'one')).toBeUndefined();
  expect(texts).toEqual([]);
});
