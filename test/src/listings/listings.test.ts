import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';

const MODELS = ['one_time', 'subscription', 'per_query'] as const;

const SUMMARY_FIELDS = {
  id: 'string',
  title: 'string',
  description: 'string',
  category: 'object',
  rental_model: 'string',
  price_sol: 'number',
  run_count: 'number',
  success_rate: 'number',
  creator: 'object',
  rating: 'number',
  review_count: 'number',
  last_updated: 'string',
  sample_output: 'object',
};
const DETAIL_FIELDS = {
  published_at: 'string',
  status: 'string',
  on_chain_address: 'string',
  metadata_uri: 'string',
  price_lamports: 'number',
  min_deposit_lamports: 'number',
  input_schema: 'object',
  output_schema: 'object',
  version: 'number',
};
const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

let marketplace: Marketplace;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

type Fields = Record<string, unknown>;

const get = async (path: string) =>
  (await call(marketplace, 'GET', path, { token: marketplace.apiKey })).body;
const detailOf = (model: (typeof MODELS)[number]) => get(`/v1/listings/${marketplace.listing(model).id}`);
const typesOf = (value: Fields) =>
  Object.fromEntries(Object.entries(value).map(([name, field]) => [name, typeof field]));

describe('a listing', () => {
  test('in search has its 13 fields and no others [LST-1, LST-10, LST-18]', async () => {
    const page = await get('/v1/listings');
    expect(Object.keys(page).toSorted()).toEqual(['limit', 'listings', 'offset', 'total']);
    const listings = page['listings'] as Fields[];
    expect(listings.length).toBeGreaterThanOrEqual(MODELS.length);
    for (const listing of listings) {
      // Listings of other tests may offer a free run, or fail.
      const { free_trial: _, failing_since: __, ...others } = listing;
      const isExample = marketplace.dev.listings.some(({ id }) => id === listing['id']);
      expect(typesOf(isExample ? listing : others)).toEqual(SUMMARY_FIELDS);
      expect(typesOf(listing['creator'] as Fields)).toEqual({
        id: 'string',
        display_name: 'string',
        listing_count: 'number',
      });
      for (const count of ['run_count', 'review_count']) expect(listing[count]).toSatisfy(Number.isInteger);
    }
  });

  test.each(MODELS)(
    'in detail has the fields of search and its own: %s [LST-2, LST-3, LST-14]',
    async (model) => {
      const detail = await detailOf(model);
      expect(typesOf(detail)).toEqual({ ...SUMMARY_FIELDS, ...DETAIL_FIELDS });
      expect(detail).toMatchObject({ status: 'active', rental_model: model });
      expect(detail['price_sol']).toBe((detail['price_lamports'] as number) / 1e9);
      for (const time of ['last_updated', 'published_at']) expect(detail[time]).toMatch(ISO_8601);
      expect((detail['sample_output'] as string[]).length).toBeGreaterThanOrEqual(1);
      expect((detail['sample_output'] as string[]).length).toBeLessThanOrEqual(3);
      // By its title: other tests publish listings of the same model.
      const query = new URLSearchParams({ rental_model: model, q: String(detail['title']), limit: '100' });
      const { body } = await call(marketplace, 'GET', `/v1/listings?${query.toString()}`, {
        token: marketplace.apiKey,
      });
      const found = (body['listings'] as Fields[]).find(({ id }) => id === detail['id']);
      for (const field of ['title', 'category', 'price_sol', 'creator'])
        expect(found?.[field]).toEqual(detail[field]);
    },
  );

  test('names the wallet of its creator, and its account on-chain [LST-11, LST-16, PRG-15]', async () => {
    const detail = await detailOf('per_query');
    const creator = (await marketplace.wallet('creator')).publicKey.toBase58();
    expect(detail['creator']).toMatchObject({ id: creator });
    const seeds = [Buffer.from('listing'), Buffer.from(String(detail['id']))];
    const [listing] = PublicKey.findProgramAddressSync(seeds, new PublicKey(marketplace.dev.program_id));
    expect(detail['on_chain_address']).toBe(listing.toBase58());
  });

  test.each(MODELS)(
    'leads to its public part, which holds nothing of the agent: %s [LST-17, LST-35, REG-20]',
    async (model) => {
      const detail = await detailOf(model);
      const cid = /^ipfs:\/\/(\w+)$/.exec(String(detail['metadata_uri']))?.[1] ?? '';
      const stored = await readFile(join(marketplace.stateDir, 'content', `${cid}.json`), 'utf8');
      const document = JSON.parse(stored) as Fields;
      expect(Object.keys(document).toSorted()).toEqual([
        'category',
        'commitment',
        'description',
        'input_schema',
        'name',
        'output_schema',
        'timeout_seconds',
      ]);
      expect(document).toMatchObject({
        description: detail['description'],
        input_schema: detail['input_schema'],
        output_schema: detail['output_schema'],
      });
      expect([document['category']]).toEqual(detail['category']);
    },
  );
});

describe('a search that cannot be made', () => {
  test.each([
    'category=cooking [LST-20]',
    'rental_model=weekly [LST-21]',
    'min_rating=5.1 [LST-23]',
    'min_rating=-1 [LST-23]',
    'min_price=-1 [LST-22]',
    'max_price=cheap [LST-22]',
    'sort=best [LST-24]',
    'limit=0 [LST-29]',
    'limit=101 [LST-28, LST-29]',
    'limit=1.5 [LST-29]',
    'limit= [LST-29]',
    'limit=0x10 [LST-29]',
    'limit=%205 [LST-29]',
    'limit=5&limit=6 [LST-29]',
    'offset= [LST-29]',
    'offset=true [LST-29]',
    'min_price= [LST-22]',
    'max_price=NaN [LST-22]',
    'min_rating= [LST-23]',
    'q=a&q=b [LST-29]',
    'offset=-1 [LST-29]',
    'query=x [LST-29]',
  ])('is 400, naming the parameter: %s', async (text) => {
    const [query = ''] = text.split(' ');
    const { status, body } = await call(marketplace, 'GET', `/v1/listings?${query}`, {
      token: marketplace.apiKey,
    });
    expect(status).toBe(400);
    expect(body['error']).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(String((body['error'] as Fields)['message'])).toContain(query.split('=')[0]);
  });

  test('is not one with the largest page [LST-28]', async () => {
    expect(await get('/v1/listings?limit=100&offset=1')).toMatchObject({ limit: 100, offset: 1 });
  });
});
