import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ELEMENT_IDS } from './element-ids.js';

it('every element that the script finds by its id is rendered by a page', () => {
  const folder = new URL('../../src/dashboard/pages/', import.meta.url);
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.tsx'),
  );
  const text = pages.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n');
  const rendered = new Set([...text.matchAll(/elementId\('([^']+)'\)/g)].map(([, id]) => id));
  expect(ELEMENT_IDS.filter((id) => !rendered.has(id))).toEqual([]);
});
