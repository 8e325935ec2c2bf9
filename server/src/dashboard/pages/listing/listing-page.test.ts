import type { Listing, Review } from '@agent-rental/contract';
import { expect, it } from 'vitest';
import type { PublicVersion } from '../../../listings/index.js';
import { listingPage } from './listing-page.js';

const WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const LISTING: Listing = {
  id: 'clerk-aaaaaa',
  title: 'Clerk',
  description: 'Files papers.',
  category: ['legal'],
  rental_model: 'per_query',
  price_sol: 0.001,
  price_lamports: 1_000_000,
  min_deposit_lamports: 1_000_000,
  run_count: 3,
  success_rate: 1,
  creator: { id: WALLET, display_name: 'Ledger Works', listing_count: 1 },
  rating: 5,
  review_count: 1,
  last_updated: '2026-01-05T10:00:00.000Z',
  published_at: '2026-01-05T10:00:00.000Z',
  sample_output: ['Filed.'],
  status: 'active',
  on_chain_address: WALLET,
  metadata_uri: 'ipfs://test',
  input_schema: {},
  output_schema: {},
};
const REVIEW: Review = {
  reviewer: WALLET,
  rating: 5,
  comment: null,
  created_at: LISTING.published_at,
  updated_at: LISTING.published_at,
};
const VERSIONS: readonly PublicVersion[] = [
  {
    number: 3,
    createdAt: new Date('2026-03-01'),
    change: { kind: 'breaking', reasons: ['<b>input_schema</b>.required: \u202ex'] },
  },
  { number: 2, createdAt: new Date('2026-02-01'), change: { kind: 'compatible', reasons: [] } },
  { number: 1, createdAt: new Date('2026-01-05'), change: null },
];
const page = (listing: Partial<Listing>, review: Partial<Review> = {}) =>
  listingPage({
    listing: { ...LISTING, ...listing },
    reviews: {
      reviews: [{ ...REVIEW, ...review }],
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
    chain: 'solana:localnet',
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

it('says of each version its day and its change, as text [LST-47]', () => {
  const [, rows = ''] = /id="versions">.*?<tbody>(.*?)<\/tbody>/s.exec(page({})) ?? [];
  const cells = rows.split('</tr>').map((row) =>
    row
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim(),
  );
  expect(cells.slice(0, 3)).toEqual([
    '3 2026-03-01 Breaking for some who call it as it was &lt;b>input_schema&lt;/b>.required: x',
    '2 2026-02-01 Compatible with the version before',
    '1 2026-01-05 First version',
  ]);
});
