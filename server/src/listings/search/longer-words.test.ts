import { searchListingsQuery } from '@agent-rental/contract';
import { afterAll, expect, it } from 'vitest';
import { insertListing, openTestDatabase } from '../../testing/index.js';
import { createListingSearch } from './search.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const search = createListingSearch(database);
const DAY_MS = 86_400_000;
const names = new Map<string, string>();
/** The newest first. */
const TITLES = [
  ['taxonomy', 'Taxonomy of plants'],
  ['expenses', 'Expenses for teams'],
  ['taxi', 'Taxi receipts with expenses'],
  ['tax', 'Tax returns'],
] as const;
for (const [index, [name, title]] of TITLES.entries()) {
  const published_at = new Date(1_800_000_000_000 - index * DAY_MS);
  const { id } = await insertListing(database.db, {
    title,
    description: 'It does the work.',
    category: [name === 'taxi' ? 'finance' : 'legal'],
    published_at,
    status: 'active',
  });
  names.set(id, name);
}

async function find(
  query: object,
): Promise<{ names: string[]; total: number; didYouMean: string | undefined }> {
  const { rows, total, didYouMean } = await search.find(
    searchListingsQuery.parse({ sort: 'relevance', ...query }),
  );
  return { names: rows.map(({ id }) => names.get(id) ?? ''), total, didYouMean };
}

it.each([
  // A beginning of words, the newest first.
  [{ q: 'expen' }, ['expenses', 'taxi'], 2],
  // Together with a whole word, and a filter.
  [{ q: 'receipts expen' }, ['taxi'], 1],
  [{ q: 'expen', category: 'legal' }, ['expenses'], 1],
  [{ q: 'expen', min_price: 1_000 }, [], 0],
  // The whole word comes first, in every order of the rest.
  [{ q: 'tax' }, ['tax', 'taxonomy', 'taxi'], 3],
  [{ q: 'tax', limit: 1 }, ['tax'], 3],
  [{ q: 'tax', limit: 1, offset: 1 }, ['taxonomy'], 3],
  [{ q: 'tax', limit: 2, offset: 2 }, ['taxi'], 3],
  [{ q: 'tax', offset: 9 }, [], 3],
  // Neither two letters nor marks are a beginning.
  [{ q: 'ex' }, [], 0],
  [{ q: 'exp%' }, ['expenses', 'taxi'], 2],
  [{ q: '%%%' }, [], 0],
  [{ q: "expen' | '" }, ['expenses', 'taxi'], 2],
  [{ q: 'the' }, [], 0],
  [{ q: 'expen zzzzz' }, [], 0],
  [{ q: Array.from('abcdefghi', (letter) => `expen${letter}`).join(' ') }, [], 0],
] as const)(
  '%j finds %j: whole words first, then words that begin so [LST-18]',
  async (query, found, total) => {
    expect(await find(query)).toMatchObject({ names: found, total });
  },
);

it('a typing error that begins no word gets a suggestion [LST-19]', async () => {
  expect(await find({ q: 'expensse' })).toEqual({ names: [], total: 0, didYouMean: 'expenses' });
  expect((await find({ q: 'expen' })).didYouMean).toBeUndefined();
});
