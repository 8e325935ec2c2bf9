import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { SAMPLE_LISTING } from '../../testing/sample-pages.js';
import { browsePage } from './browse-page.js';

const query = { limit: 24, offset: 0, sort: 'rating' as const };
const page = (cards: number, over: object = {}) => {
  const listings = Array.from({ length: cards }, (_, index) => {
    const sha256 = createHash('sha256').update(String(index)).digest('hex');
    // No two cards share a text, so that little of it can be compressed.
    const words = Array.from({ length: 40 }, (_word, place) => sha256.slice(place, place + 7)).join(' ');
    return {
      ...SAMPLE_LISTING,
      id: `agent-${sha256.slice(0, 6)}`,
      title: words.slice(0, 80),
      description: words,
      free_trial: true,
      failing_since: SAMPLE_LISTING.last_updated,
      icon_path: `/icons/${sha256}`,
      median_ms: 100 * index,
      ...over,
    };
  });
  const found = { listings, total: listings.length, ...query };
  return browsePage({ query, found, counts: new Map(), baseUrl: 'https://market.example' });
};

it('is at most 20 KB as it is sent, with 24 full cards [SVC-17]', () => {
  expect(gzipSync(page(24)).length).toBeLessThan(20_000);
});

it.each([
  [0, '0.00 s'],
  [83, '0.08 s'],
  [1_240, '1.2 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [99_999, '100 s'],
  [100_000, '2 min'],
])('says of each agent how long half of its runs take: %i ms [LST-55]', (median_ms, words) => {
  expect(page(1, { median_ms })).toContain(`<span>usually ${words}</span>`);
});
