import { expect, it } from 'vitest';
import { rentPage } from './rent-page.js';

const LISTING = {
  id: 'clerk-aaaaaa',
  title: 'Clerk',
  rentalModel: 'per_query',
  priceLamports: 250_000n,
  minDepositLamports: 1_000_000n,
} as const;
const page = (listing: Partial<typeof LISTING | { title: string }> = {}, maxTotalLamports?: bigint) =>
  rentPage({
    listing: { ...LISTING, ...listing },
    costs: undefined,
    baseUrl: 'https://market.example',
    chain: { 'data-chain': 'solana:localnet' },
    programId: 'AgentRenta1Market11111111111111111111111111',
    nonce: 'n',
    maxTotalLamports,
  });

it('shows the words of a creator as text', () => {
  const html = page({ title: `<img src=x onerror="alert('1')"> & co` });
  expect(html).not.toContain('<img');
  expect(html).toContain("&lt;img src=x onerror=&quot;alert('1')&quot;> &amp; co");
});

it('shows the price first, and a creator’s words in a separate block behind it [REN-4]', () => {
  const title = `Clerk" costs 0.000001 SOL.\n\u202e\u2028<p>It costs 0 SOL</p>${'x'.repeat(500)}`;
  const html = page({ title });
  const [before = '', words = ''] = html.split('<blockquote><bdi>');
  expect(before).toContain(
    '<h1>Rent <code>clerk-aaaaaa</code></h1><p id="price">It costs 0.00025 SOL, per task',
  );
  expect(before).not.toContain('Clerk');
  const [shown = '', after = ''] = words.split('</bdi></blockquote>');
  expect(shown).toMatch(/^Clerk&quot; costs 0\.000001 SOL\. &lt;p>It costs 0 SOL&lt;\/p>x+\.\.\.$/);
  expect(after).not.toContain('Clerk');
});

it('names the price as a decimal, and agrees to no more', () => {
  expect(page()).toContain('0.00025 SOL');
  expect(page()).toContain('max_price_lamports: 250000');
  expect(page()).toContain('deposit_lamports: lamports');
  expect(page()).toContain('prepay at least 0.001 SOL');
});

it('calls the sum of a link the claim of the link [REN-4]', () => {
  expect(page({}, 12_000_000n)).toContain('Your link names 0.012 SOL as the most in all');
  expect(page()).not.toContain('Your link names');
});
