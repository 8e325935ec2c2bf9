import type { Listing, PublicVersion, Review } from '@agent-rental/contract';
import { expect, it } from 'vitest';
import { SAMPLE_LISTING, SAMPLE_REVIEW } from '../../../testing/sample-pages.js';
import { listingPage } from './listing-page.js';

const VERSIONS: readonly PublicVersion[] = [
  {
    version: 3,
    created_at: '2026-03-01T00:00:00.000Z',
    change: { kind: 'breaking', reasons: ['<b>input_schema</b>.required: \u202ex'] },
    notes: 'Reads <i>more</i>\u202e.',
  },
  {
    version: 2,
    created_at: '2026-02-01T00:00:00.000Z',
    change: { kind: 'compatible', reasons: [] },
  },
  { version: 1, created_at: '2026-01-05T00:00:00.000Z', change: null },
];
const page = (listing: Partial<Listing>, review: Partial<Review> = {}) =>
  listingPage({
    listing: { ...SAMPLE_LISTING, ...listing },
    reviews: {
      reviews: [{ ...SAMPLE_REVIEW, ...review }],
      total: 7,
      rating_counts: { 1: 0, 2: 0, 3: 1, 4: 2, 5: 4 },
      limit: 1,
      offset: 0,
    },
    versions: VERSIONS,
    costs: undefined,
    sampleInput: undefined,
    offersGuest: true,
    baseUrl: 'https://market.example',
    chain: { 'data-chain': 'solana:localnet' },
    nonce: 'n',
  });

it.each([
  [1, '>1 paid run,'],
  [12, '>12 paid runs,'],
  [100, '>100 or more paid runs,'],
])('says beside a review that its wallet had %i paid runs', (paid_runs, words) => {
  expect(page({}, { paid_runs })).toContain(words);
});

it.each([
  [true, 'First run free</span>'],
  ['renters', 'First run free for renters</span>'],
] as const)('says whose first run is free: %s', (free_trial, words) => {
  expect(page({ free_trial })).toContain(words);
  expect(page({})).not.toContain('First run free');
});

it('shows how many reviews have each rating, and the answer as text', () => {
  const html = page(
    {},
    { answer: { text: '<b>Thanks</b>\u202e!', answered_at: '2026-02-01T00:00:00.000Z' } },
  );
  const [, list = ''] = /<ul class="bars"[^>]*>(.*?)<\/ul>/.exec(html) ?? [];
  expect(
    list
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim(),
  ).toBe('5 stars 4 4 stars 2 3 stars 1 2 stars 0 1 star 0');
  expect(html).toContain('Answer of the creator, 2026-02-01');
  expect(html).toContain('&lt;b>Thanks&lt;/b>!');
  expect(page({})).not.toContain('Answer of the creator');
});

it('says of each version its day, its change and its notes, as text [LST-47]', () => {
  const [, rows = ''] = /id="versions">.*?<tbody>(.*?)<\/tbody>/s.exec(page({})) ?? [];
  const cells = rows.split('</tr>').map((row) =>
    row
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim(),
  );
  expect(cells.slice(0, 3)).toEqual([
    '3 2026-03-01 Breaking: some calls that worked before may be refused &lt;b>input_schema&lt;/b>.required: x Reads &lt;i>more&lt;/i>.',
    '2 2026-02-01 Compatible with the version before',
    '1 2026-01-05 First version',
  ]);
});
