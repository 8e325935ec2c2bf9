import { listing as listingSchema, listingSummary, searchListingsQuery } from '@agent-rental/contract';
import { findListingAddress } from '@agent-rental/program-client';
import type { Insertable } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import type { Database } from '../database/schema.js';
import { insertListing, newTestListingId, newWallet, openTestDatabase } from '../testing/index.js';
import { newListingId, parseListingId } from './listing-id.js';
import { createListingRepository } from './repository.js';
import { createListingService } from './service.js';

const creator = newWallet();
/** Ids by a short name, for the expectations. */
const ids: Record<string, string> = {};

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const LONG = `${'ü'.repeat(279)}👩 and more`;

async function insert(name: string, fields: Partial<Insertable<Database['listings']>>): Promise<void> {
  ids[name] = (await insertListing(database.db, { creator, ...fields })).id;
}

const database = await openTestDatabase();
afterAll(() => database.close());
const listings = createListingService(createListingRepository(database));
await insert('invoices', {
  title: 'Invoice reader',
  description: 'Reads invoices and finds due amounts.',
  price_lamports: 1_000_000n,
  published_at: day(1),
  rating_sum: 9,
  review_count: 2,
  ranked_rating_sum: 9,
  ranked_review_count: 2,
  run_count: 4,
  completed_count: 3,
});
await insert('contracts', {
  title: 'Contract checker',
  description: 'Finds duties in contracts; mentions an invoice.',
  category: ['legal'],
  rental_model: 'subscription',
  price_lamports: 3_000_000_000n,
  min_deposit_lamports: 0n,
  published_at: day(2),
  rating_sum: 5,
  review_count: 1,
  ranked_rating_sum: 5,
  ranked_review_count: 1,
});
await insert('code', {
  title: 'Code reviewer',
  description: LONG,
  category: ['coding'],
  rental_model: 'one_time',
  price_lamports: 2_000_000n,
  min_deposit_lamports: 0n,
  published_at: day(3),
  creator: newWallet(),
});
await insert('draft', { title: 'Invoice draft', status: 'draft', published_at: null });
await insert('paused', { title: 'Invoice paused', status: 'paused', published_at: day(4) });
await insert('suspended', { title: 'Invoice suspended', status: 'suspended', published_at: day(6) });
await insert('closed', { title: 'Invoice closed', status: 'closed', published_at: day(5) });

async function search(query: Record<string, string | number> = {}) {
  const found = await listings.search(searchListingsQuery.parse(query));
  return {
    ...found,
    names: found.listings.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id)),
  };
}

describe('a search', () => {
  it('without filters gives the listings on sale, newest first [LST-28, LST-29, LST-33]', async () => {
    const found = await search();
    expect(found).toMatchObject({ names: ['code', 'contracts', 'invoices'], total: 3, limit: 20, offset: 0 });
    for (const summary of found.listings) listingSummary.parse(summary);
  });

  it('shows the fields of the specification for each listing [LST-9, LST-11, LST-13, LST-43]', async () => {
    const { listings: found } = await search({ category: 'finance' });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      id: ids['invoices'],
      title: 'Invoice reader',
      category: ['finance'],
      rental_model: 'per_query',
      price_sol: 0.001,
      run_count: 4,
      success_rate: 0.75,
      rating: 4.5,
      review_count: 2,
      sample_output: ['An answer.'],
      creator: {
        id: creator,
        listing_count: 2,
        display_name: `${creator.slice(0, 4)}...${creator.slice(-4)}`,
      },
    });
  });

  it.each([
    [{ category: 'legal' }, ['contracts']],
    [{ category: 'sales' }, []],
    [{ rental_model: 'one_time' }, ['code']],
    [{ min_price: 0.002 }, ['code', 'contracts']],
    [{ max_price: 0.002 }, ['code', 'invoices']],
    [{ min_price: 0.001, max_price: 0.001 }, ['invoices']],
    [{ min_price: 3.000000001 }, []],
    [{ min_rating: 4.5 }, ['contracts', 'invoices']],
    [{ min_rating: 4.6 }, ['contracts']],
    [{ min_rating: 0 }, ['code', 'contracts', 'invoices']],
    [{ q: 'reviewing code' }, ['code']],
    [{ q: '   ' }, ['code', 'contracts', 'invoices']],
    [{ q: 'invoice', category: 'legal' }, ['contracts']],
    [{ q: 'nothing of the kind' }, []],
  ])('for %j finds the right ones [LST-18, LST-19, LST-20, LST-21, LST-22, LST-23]', async (query, names) => {
    const found = await search(query);
    expect(found.names).toEqual(names);
    expect(found.total).toBe(names.length);
  });

  it.each([
    ['invoices', 'relevance', ['invoices', 'contracts']],
    ['invoices', 'rating', ['invoices', 'contracts']],
    ['invoices', 'price_asc', ['invoices', 'contracts']],
    ['invoices', 'price_desc', ['contracts', 'invoices']],
    ['invoices', 'newest', ['contracts', 'invoices']],
    ['', 'rating', ['invoices', 'contracts', 'code']],
    ['', 'price_asc', ['invoices', 'code', 'contracts']],
    ['', 'price_desc', ['contracts', 'code', 'invoices']],
    ['', 'relevance', ['code', 'contracts', 'invoices']],
  ])('for the words "%s", sorted by %s [LST-25, LST-26, LST-27, LST-29]', async (q, sort, names) => {
    expect((await search({ ...(q && { q }), sort })).names).toEqual(names);
  });

  it('takes any words as words [LST-36]', async () => {
    for (const q of [
      "'",
      "'; drop table listings; --",
      '"',
      '!!! & | ( :*',
      '\\',
      '%',
      'a:b',
      '-',
      'ü👩',
      '<->',
    ]) {
      expect((await search({ q })).total).toBeLessThanOrEqual(3);
    }
    expect((await search()).total).toBe(3);
  });

  it('cuts descriptions at 280 characters, between characters [LST-3]', async () => {
    const { listings: found } = await search({ category: 'coding' });
    expect(found[0]?.description).toBe(`${'ü'.repeat(277)}...`);
    expect((await listings.detail(ids['code'] ?? '')).description).toBe(LONG);
    const { listings: short } = await search({ category: 'finance' });
    expect(short[0]?.description).toBe('Reads invoices and finds due amounts.');
  });

  it('sorted by rating has many good reviews before a single better one, and a bad one last [LST-25]', async () => {
    const rated = [
      ['one of 5', 5, 1],
      ['twelve of 4.92', 59, 12],
      ['none', 0, 0],
      ['one of 1', 1, 1],
    ] as const;
    for (const [title, ranked_rating_sum, ranked_review_count] of rated)
      await insertListing(database.db, {
        creator,
        title,
        category: ['sales'],
        ranked_rating_sum,
        ranked_review_count,
        // The average is for people, and moves no order.
        rating_sum: 5,
        review_count: 1,
      });
    const page = await search({ category: 'sales', sort: 'rating' });
    expect(page.listings.map(({ title }) => title)).toEqual([
      'twelve of 4.92',
      'one of 5',
      'none',
      'one of 1',
    ]);
  });

  it('has stable pages: each listing is on one of them, also where the order has ties [LST-36]', async () => {
    const same = Array.from({ length: 25 }, () => newTestListingId());
    for (const id of same) {
      await insertListing(database.db, { id, creator, category: ['research'], published_at: day(9) });
    }
    for (const sort of ['newest', 'rating', 'price_asc', 'price_desc', 'relevance']) {
      const seen: string[] = [];
      for (let offset = 0; offset < 30; offset += 4) {
        const page = await search({ category: 'research', sort, limit: 4, offset });
        expect(page).toMatchObject({ total: 25, limit: 4, offset });
        seen.push(...page.listings.map(({ id }) => id));
      }
      expect(seen.toSorted()).toEqual(same.toSorted());
    }
    const beyond = await search({ category: 'research', offset: 1000 });
    expect(beyond).toMatchObject({ listings: [], total: 25 });
  });
});

describe('a listing', () => {
  it('is shown in full, with prices exact to the lamport [LST-3]', async () => {
    const detail = listingSchema.parse(await listings.detail(ids['invoices'] ?? ''));
    expect(detail).toMatchObject({
      status: 'active',
      published_at: day(1).toISOString(),
      price_lamports: 1_000_000,
      min_deposit_lamports: 1_000_000,
      input_schema: {},
      metadata_uri: 'ipfs://test',
    });
  });

  it.each(['paused', 'suspended', 'closed'])('that is %s is shown as such [LST-33]', async (status) => {
    expect(await listings.detail(ids[status] ?? '')).toMatchObject({ status });
    expect((await listings.find(ids[status] ?? '')).status).toBe(status);
  });

  it('that is a draft is not there [LST-31]', async () => {
    const id = ids['draft'] ?? '';
    await expect(listings.detail(id)).rejects.toMatchObject({ code: 'listing_not_found', status: 404 });
    await expect(listings.find(id)).rejects.toMatchObject({ code: 'listing_not_found' });
    const address = findListingAddress(id).address.toBase58();
    expect(await listings.findIdByAddress(address)).toBeUndefined();
  });

  it('that never was is not found, and a malformed id is another error [LST-31, LST-32, ERR-12, ERR-13]', async () => {
    await expect(listings.detail('invoice-reader-k3x7qa')).rejects.toMatchObject({
      code: 'listing_not_found',
    });
    const long = `${'a'.repeat(26)}-k3x7qa`;
    for (const id of ['', 'x', 'Invoice-k3x7qa', 'invoice', 'invoice-k3x7q1', long, "'--"]) {
      await expect(listings.detail(id)).rejects.toMatchObject({ code: 'invalid_listing_id', status: 400 });
    }
    for (const id of ['a\0-k3x7qa', 'invoice-k3x7qa\n']) {
      await expect(listings.detail(id)).rejects.toMatchObject({ code: 'invalid_listing_id', status: 400 });
    }
  });

  it('is found by its address', async () => {
    const { address } = await listings.find(ids['code'] ?? '');
    expect(await listings.findIdByAddress(address)).toBe(ids['code']);
    expect(await listings.findIdByAddress(newWallet())).toBeUndefined();
  });
});

describe('a new listing id', () => {
  it.each(['ab', 'invoice-reader', 'a'.repeat(64), `${'a'.repeat(24)}-${'b'.repeat(30)}`])(
    'is in the right form, fits a seed, and differs each time: %s [REG-25]',
    (name) => {
      const made = Array.from({ length: 50 }, () => newListingId(name));
      expect(new Set(made).size).toBe(50);
      for (const id of made) {
        expect(parseListingId(id)).toBe(id);
        expect(Buffer.byteLength(id)).toBeLessThanOrEqual(32);
      }
    },
  );
});
