import { expect, it } from 'vitest';
import type { ListRange } from './keyset.js';
import { readListPage, type PagedList } from './list-page.js';

/** A list of numbers, the highest first; counted up to `most`. */
function listOf(numbers: number[], { name = 'numbers', most = 1_000 } = {}) {
  const counts: number[] = [];
  const list: PagedList<number> = {
    name,
    isId: (text) => /^\d+$/.test(text),
    read: async ({ limit, offset, after }: ListRange) => {
      const rest = after ? numbers.filter((number) => number < Number(after.id)) : numbers.slice(offset);
      return rest.slice(0, limit);
    },
    positionOf: (number) => ({ timeUs: BigInt(number), id: String(number) }),
    count: async () => {
      counts.push(numbers.length);
      return { total: Math.min(numbers.length, most), isMinimum: numbers.length >= most };
    },
  };
  return { list, counts };
}
const TEN = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

it('cursors lead through a list that is counted once, and the last page has none', async () => {
  const { list, counts } = listOf(TEN);
  const pages = [];
  let cursor: string | undefined;
  do {
    const { rows, total, end } = await readListPage(list, { limit: 4, offset: 0, cursor });
    pages.push({ rows, total });
    cursor = end.next_cursor;
    expect(end.total_is_minimum).toBeUndefined();
  } while (cursor !== undefined);
  expect(pages).toEqual([
    { rows: [10, 9, 8, 7], total: 10 },
    { rows: [6, 5, 4, 3], total: 10 },
    { rows: [2, 1], total: 10 },
  ]);
  expect(counts).toHaveLength(1);
});

it('a list that is longer than it was counted says so, until its end shows how long it is', async () => {
  const { list } = listOf(TEN, { most: 5 });
  const first = await readListPage(list, { limit: 3, offset: 0 });
  expect(first).toMatchObject({ total: 5, end: { total_is_minimum: true } });
  const second = await readListPage(list, { limit: 3, offset: 0, cursor: first.end.next_cursor });
  expect(second).toMatchObject({ rows: [7, 6, 5], total: 7, end: { total_is_minimum: true } });
  const last = await readListPage(list, { limit: 4, offset: 0, cursor: second.end.next_cursor });
  expect(last).toEqual({ rows: [4, 3, 2, 1], total: 10, end: {} });
});

it('an offset leads to any place, also past the end', async () => {
  const { list, counts } = listOf(TEN);
  expect(await readListPage(list, { limit: 4, offset: 6 })).toEqual({
    rows: [4, 3, 2, 1],
    total: 10,
    end: {},
  });
  expect(counts).toHaveLength(0);
  expect(await readListPage(list, { limit: 4, offset: 10 })).toEqual({ rows: [], total: 10, end: {} });
  const { list: none } = listOf([]);
  expect(await readListPage(none, { limit: 4, offset: 0 })).toEqual({ rows: [], total: 0, end: {} });
});

it('a cursor that is broken, of another list or beside an offset is refused', async () => {
  const { list } = listOf(TEN);
  const { end } = await readListPage(list, { limit: 4, offset: 0 });
  const good = end.next_cursor ?? '';
  const written = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const refused = { code: 'invalid_request', status: 400, reason: 'The cursor is not one of this list.' };
  for (const cursor of [
    'nonsense',
    good.slice(1),
    written('numbers'),
    written(['numbers', '7', '7', 4, 10]),
    written(['numbers', '-7', '7', 4, 10, false]),
    written(['numbers', '7'.repeat(18), '7', 4, 10, false]),
    written(['numbers', '7', 'seven', 4, 10, false]),
    written(['numbers', '7', '7', -4, 10, false]),
    written(['numbers', '7', '7', 4, 10.5, false]),
    written(['letters', '7', '7', 4, 10, false]),
  ]) {
    await expect(readListPage(list, { limit: 4, offset: 0, cursor }), cursor).rejects.toMatchObject(refused);
  }
  const both = readListPage(list, { limit: 4, offset: 4, cursor: good });
  await expect(both).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
});
