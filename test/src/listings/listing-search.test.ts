import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, login } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newRenter, rentOverHttp, type Renter } from '../support/renter.js';

type Fields = Record<string, unknown>;

const CATEGORIES = ['finance', 'legal', 'coding', 'research', 'sales', 'content'];

/** Apart from other tests, which publish and close listings meanwhile. */
let marketplace: OwnMarketplace;
let renter: Renter;
/** The details of everything on sale, the newest first. */
let onSale: Fields[];

beforeAll(async () => {
  marketplace = await startMarketplace(await newStateDir());
  renter = await newRenter(marketplace);
  const { listings } = await search('');
  onSale = await Promise.all(listings.map(({ id }) => detail(String(id))));
});
afterAll(async () => {
  await marketplace.stop();
  await removeStateDir(marketplace.stateDir);
});

const get = (path: string) => call(marketplace, 'GET', path, { token: renter.token });
const errorOf = (body: Fields) => body['error'] as Fields;
const idsOf = (listings: Fields[]) => listings.map(({ id }) => id);

async function search(query: string) {
  const { status, body } = await get(`/v1/listings${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as { listings: Fields[]; total: number; limit: number; offset: number; did_you_mean?: string };
}

async function detail(id: string): Promise<Fields> {
  const { status, body } = await get(`/v1/listings/${id}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

describe('a search', () => {
  test('without parameters has the first 20 listings on sale, the newest first, and their number [LST-18, LST-24, LST-28, LST-29]', async () => {
    const found = await search('');
    expect(found).toMatchObject({ total: onSale.length, limit: 20, offset: 0 });
    expect(Object.keys(found).sort()).toEqual(['limit', 'listings', 'offset', 'total']);
    const published = onSale.map((listing) => String(listing['published_at']));
    expect(published).toEqual(published.toSorted().toReversed());
    expect(onSale.length).toBeGreaterThanOrEqual(3);
  });

  test.each(CATEGORIES)('by category %s [LST-20]', async (category) => {
    const expected = onSale.filter((listing) => (listing['category'] as string[]).includes(category));
    const found = await search(`?category=${category}`);
    expect(idsOf(found.listings)).toEqual(idsOf(expected));
    expect(found.total).toBe(expected.length);
  });

  test.each(['one_time', 'subscription', 'per_query'])('by rental model %s [LST-21]', async (model) => {
    const expected = onSale.filter((listing) => listing['rental_model'] === model);
    expect(expected.length).toBeGreaterThanOrEqual(1);
    const found = await search(`?rental_model=${model}`);
    expect(idsOf(found.listings)).toEqual(idsOf(expected));
  });

  test('by price in SOL, the bounds included [LST-22]', async () => {
    for (const { price_sol: price } of onSale) {
      const prices = (listings: Fields[]) => listings.map((listing) => Number(listing['price_sol']));
      const atLeast = await search(`?min_price=${Number(price)}`);
      expect(atLeast.total).toBe(prices(onSale).filter((other) => other >= Number(price)).length);
      const atMost = await search(`?max_price=${Number(price)}`);
      expect(atMost.total).toBe(prices(onSale).filter((other) => other <= Number(price)).length);
      const exactly = await search(`?min_price=${Number(price)}&max_price=${Number(price)}`);
      expect(new Set(prices(exactly.listings))).toEqual(new Set([price]));
    }
    expect((await search('?min_price=999999')).total).toBe(0);
  });

  test.each(['newest', 'relevance'])(
    'sorted by %s without words has the newest first [LST-27, LST-29]',
    async (sort) => {
      expect(idsOf((await search(`?sort=${sort}`)).listings)).toEqual(idsOf(onSale));
    },
  );

  test.each([
    ['price_asc', 'price_sol', 1],
    ['price_desc', 'price_sol', -1],
  ] as const)('sorted by %s [LST-25, LST-26]', async (sort, field, sign) => {
    const { listings } = await search(`?sort=${sort}`);
    expect(new Set(idsOf(listings))).toEqual(new Set(idsOf(onSale)));
    const values = listings.map((listing) => Number(listing[field]));
    expect(values).toEqual(values.toSorted((a, b) => sign * (a - b)));
  });

  test('sorted by rating has all of them [LST-25]', async () => {
    const { listings } = await search('?sort=rating');
    expect(new Set(idsOf(listings))).toEqual(new Set(idsOf(onSale)));
  });

  test('by words of title and description [LST-19]', async () => {
    for (const listing of onSale) {
      const words = encodeURIComponent(String(listing['title']));
      const found = await search(`?q=${words}`);
      expect(idsOf(found.listings)).toContain(listing['id']);
      expect(found.total).toBe(found.listings.length);
      const other = CATEGORIES.find((category) => !(listing['category'] as string[]).includes(category));
      expect(idsOf((await search(`?q=${words}&category=${other}`)).listings)).not.toContain(listing['id']);
    }
  });

  test('of a mistyped word finds nothing and says which word was meant [LST-36]', async () => {
    const { listings, total } = await search('?q=expenses');
    expect(listings.length).toBe(total);
    const found = await search('?q=expensse');
    expect(found).toMatchObject({
      listings: [],
      total: 0,
      did_you_mean: expect.stringMatching(/^expenses?$/) as string,
    });
    expect((await search(`?q=${found.did_you_mean}`)).total).toBeGreaterThan(0);
    const nonsense = await search('?q=qqqqzzzzxxxx');
    expect(nonsense).toEqual({ listings: [], total: 0, limit: 20, offset: 0 });
  });

  test('goes page by page [LST-18, LST-36]', async () => {
    const seen: unknown[] = [];
    for (let offset = 0; offset < onSale.length; offset += 1) {
      const page = await search(`?limit=1&offset=${offset}`);
      expect(page).toMatchObject({ total: onSale.length, limit: 1, offset });
      expect(page.listings).toHaveLength(1);
      seen.push(...idsOf(page.listings));
    }
    expect(seen).toEqual(idsOf(onSale));
    const beyond = await search(`?offset=${onSale.length}`);
    expect(beyond).toEqual({ listings: [], total: onSale.length, limit: 20, offset: onSale.length });
    expect(await search('?limit=100')).toMatchObject({ limit: 100 });
  });

  test.each([
    'limit=ten',
    'limit=1&limit=2',
    'offset=1.5',
    'category=Finance',
    'min_price=cheap',
    `q=${'x'.repeat(401)}`,
    'q=%00',
  ])('with %s is refused', async (query) => {
    const { status, body } = await get(`/v1/listings?${query}`);
    expect(status).toBe(400);
    expect(errorOf(body)).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(String(errorOf(body)['message'])).toMatch(/query/);
  });

  test('needs authentication', async () => {
    for (const path of ['/v1/listings', `/v1/listings/${String(onSale[0]?.['id'])}`]) {
      const { status, body } = await call(marketplace, 'GET', path);
      expect(status).toBe(401);
      expect(errorOf(body)).toMatchObject({ code: 'unauthorized' });
    }
  });
});

describe('reviews', () => {
  const path = (id: string) => `/v1/listings/${id}/reviews`;
  const post = (token: string, id: string, body: unknown) =>
    call(marketplace, 'POST', path(id), { token, body });

  test('are written after a finished run, one per wallet, and make the rating [LST-13, LST-23, LST-40]', async () => {
    const { id } = marketplace.listing('one_time');
    const before = await detail(id);
    const early = await post(renter.token, id, { rating: 5 });
    expect(early.status).toBe(400);
    expect(errorOf(early.body)).toMatchObject({ code: 'invalid_request' });
    expect(String(errorOf(early.body)['message'])).toContain('finished run');

    await rentOverHttp(marketplace, renter, 'one_time');
    const body = await marketplace.request('one_time');
    const run = await call(marketplace, 'POST', '/v1/execute', { token: renter.token, body });
    expect(run.body).toMatchObject({ status: 'completed' });
    const after = await detail(id);
    expect(Number(after['run_count'])).toBeGreaterThan(Number(before['run_count']));
    expect(after['success_rate']).toBeGreaterThan(0);

    const first = await post(renter.token, id, { rating: 2, comment: ' Slow,\u202e but right. ' });
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ rating: 2, comment: 'Slow, but right.' });
    expect(first.body['reviewer']).toBe(renter.wallet.publicKey.toBase58());
    const second = await post(renter.token, id, { rating: 4 });
    expect(second.body).toMatchObject({
      rating: 4,
      comment: null,
      paid_runs: 1,
      created_at: first.body['created_at'],
    });

    const count = Number(before['review_count']) + 1;
    const rating = (Number(before['rating']) * (count - 1) + 4) / count;
    const reviewed = await detail(id);
    expect(reviewed['review_count']).toBe(count);
    expect(reviewed['rating']).toBeCloseTo(rating, 10);
    expect(idsOf((await search(`?min_rating=${Number(reviewed['rating'])}`)).listings)).toContain(id);
    const page = await get(`${path(id)}?limit=1`);
    const { rating_counts: counts, ...rest } = page.body as { rating_counts: Record<string, number> };
    expect(rest).toEqual({ reviews: [second.body], total: count, limit: 1, offset: 0 });
    expect(Object.values(counts).reduce((sum, reviews) => sum + reviews, 0)).toBe(count);
    expect((await get(path(id))).body).toMatchObject({ limit: 20, offset: 0 });
  });

  test("are not the creator's to write [LST-40]", async () => {
    const token = await login(marketplace, await marketplace.wallet('creator'));
    const { status, body } = await post(token, marketplace.listing('one_time').id, { rating: 5 });
    expect(status).toBe(400);
    expect(String(errorOf(body)['message'])).toContain('creator');
  });

  test.each([
    {},
    { rating: 0 },
    { rating: 6 },
    { rating: 4.5 },
    { rating: '5' },
    { rating: 5, comment: 'x'.repeat(2001) },
    { rating: 5, stars: 5 },
  ])('of another form are refused [LST-40]', async (body) => {
    const answer = await post(renter.token, marketplace.listing('one_time').id, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer.body)).toMatchObject({ code: 'invalid_request' });
  });

  test.each([
    ['absent-aaaaaa', 404, 'listing_not_found'],
    ['Absent', 400, 'invalid_listing_id'],
  ])('of %s: %i', async (id, status, code) => {
    for (const answer of [await post(renter.token, id, { rating: 5 }), await get(path(id))]) {
      expect(answer.status).toBe(status);
      expect(errorOf(answer.body)).toMatchObject({ code });
    }
  });
});

describe("a creator's name", () => {
  test('is set by the creator, shown with its listings, and bounded [LST-11, LST-43]', async () => {
    const wallet = await marketplace.wallet('creator');
    const token = await login(marketplace, wallet);
    const patch = (body: unknown) => call(marketplace, 'PATCH', '/v1/creators/me', { token, body });
    const { id } = marketplace.listing('per_query');
    const address = wallet.publicKey.toBase58();
    const shortened = { id: address, display_name: `${address.slice(0, 4)}...${address.slice(-4)}` };
    expect((await detail(id))['creator']).toMatchObject(shortened);

    const named = await patch({ display_name: ' Ledger\u202e  Works ' });
    expect(named.status).toBe(200);
    // Other tests publish and close listings of this creator meanwhile.
    const listingCount: unknown = expect.any(Number);
    expect(named.body).toEqual({ id: address, display_name: 'Ledger Works', listing_count: listingCount });
    expect((await detail(id))['creator']).toEqual({
      id: address,
      display_name: 'Ledger Works',
      listing_count: listingCount,
    });

    for (const display_name of ['', 'x'.repeat(51), '\u200b', 7]) {
      expect((await patch({ display_name })).status).toBe(400);
    }
    expect((await patch({})).status).toBe(400);
    expect((await patch({ display_name: null })).body).toMatchObject(shortened);
  });
});
