import { expect, it } from 'vitest';
import { rentPage } from './rent-page.js';

const LISTING = {
  id: 'clerk-aaaaaa',
  title: 'Clerk',
  rentalModel: 'per_query',
  priceLamports: 250_000n,
  minDepositLamports: 1_000_000n,
} as const;
const page = (listing: Partial<typeof LISTING | { title: string }> = {}) =>
  rentPage({
    listing: { ...LISTING, ...listing },
    baseUrl: 'https://market.example',
    maxTotalLamports: undefined,
  });

it('shows what a creator wrote as text', () => {
  const html = page({ title: `<img src=x onerror="alert('1')"> & co` });
  expect(html).not.toContain('<img');
  expect(html).toContain('&#60;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&#62; &#38; co');
});

it('names the price as a decimal, and agrees to no more', () => {
  expect(page()).toContain('0.00025 SOL');
  expect(page()).toContain('max_price_lamports: 250000');
  expect(page()).toContain('deposit_lamports: lamports');
});
