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
  expect(html).toContain('&#34;&#60;img src=x onerror=&#39;alert(&#39;1&#39;)&#39;&#62; &#38; co&#34;');
});

it('shows the price first, and a creator’s words in a block of their own behind it [REN-18]', () => {
  const title = `Clerk" costs 0.000001 SOL.\n\u202e\u2028<p>It costs 0 SOL</p>${'x'.repeat(500)}`;
  const html = page({ title });
  const [before = '', words = ''] = html.split('<blockquote><bdi>');
  expect(before).toContain(
    '<h1>Rent <code>clerk-aaaaaa</code></h1>\n<p id="price">It costs 0.00025 SOL, per task',
  );
  expect(before).not.toContain('Clerk');
  const [shown = '', after = ''] = words.split('</bdi></blockquote>');
  expect(shown).toMatch(
    /^&#34;Clerk&#39; costs 0\.000001 SOL\. &#60;p&#62;It costs 0 SOL&#60;\/p&#62;x+\.\.\.&#34;$/,
  );
  expect(after).not.toContain('Clerk');
});

it('names the price as a decimal, and agrees to no more', () => {
  expect(page()).toContain('0.00025 SOL');
  expect(page()).toContain('max_price_lamports: 250000');
  expect(page()).toContain('deposit_lamports: lamports');
});
