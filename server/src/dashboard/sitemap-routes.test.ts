import Fastify from 'fastify';
import { afterAll, expect, it } from 'vitest';
import { createListingAddresses, type ListingAddresses } from '../listings/index.js';
import { insertListing, newWallet, openTestDatabase } from '../testing/index.js';
import { sitemapRoutes } from './sitemap-routes.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const origin = () => 'https://market.example';

function appOf(addresses: ListingAddresses) {
  const app = Fastify();
  sitemapRoutes(app, { addresses, origin });
  return async (path: string) => {
    const { statusCode, body, headers } = await app.inject(path);
    const urls = [...body.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => url);
    return { statusCode, body, urls, type: headers['content-type'] };
  };
}

it('the site map names listings on sale and their creators, and no others [SVC-15]', async () => {
  const creator = newWallet();
  const one = await insertListing(database.db, { creator, status: 'active' });
  const other = await insertListing(database.db, { creator, status: 'active' });
  await insertListing(database.db, { status: 'paused' });
  await insertListing(database.db, { status: 'active', hidden_since: new Date() });
  const get = appOf(createListingAddresses(database.db));
  const index = await get('/sitemap.xml');
  expect(index.urls).toEqual(['https://market.example/sitemaps/1.xml']);
  expect(index.type).toBe('text/xml; charset=utf-8');
  expect((await get('/sitemaps/1.xml')).urls).toEqual([
    'https://market.example/',
    `https://market.example/dashboard/listings/${one.id}`,
    `https://market.example/dashboard/listings/${other.id}`,
    `https://market.example/creators/${creator}`,
  ]);
});

it('has ten parts at most, reads each once, and no part that is not there', async () => {
  let reads = 0;
  const get = appOf({
    count: async () => 1_000_000,
    page: async (offset, limit) => {
      reads += 1;
      return Array.from({ length: limit }, (_, index) => ({
        id: `agent-${offset + index}`,
        creator: 'Creator',
      }));
    },
  });
  const { urls } = await get('/sitemap.xml');
  expect(urls).toHaveLength(10);
  const parts = await Promise.all(Array.from({ length: 4 }, () => get('/sitemaps/10.xml')));
  expect(reads).toBe(1);
  expect(parts[0]?.urls).toHaveLength(5_001);
  expect(parts[0]?.urls.at(-2)).toBe('https://market.example/dashboard/listings/agent-49999');
  for (const part of ['0', '11', '1e1', '01', 'x', '-1']) {
    expect((await get(`/sitemaps/${part}.xml`)).body, part).toContain('The site map has no such part.');
  }
  expect(reads).toBe(1);
});
