import type { PageEnd } from '@agent-rental/contract';
import type { ListCount, ListPosition, ListRange, ShownPart } from './keyset.js';
import { ApiError } from '../errors/api-error.js';

/** A list that is given in pages. */
export interface PagedList<Row> {
  /** Names the list and its filter: a cursor of another one is refused. */
  name: string;
  /** Whether a text may be the id in a position of this list. */
  isId(text: string): boolean;
  /** Reads a part of it, in its order. */
  read(range: ListRange): Promise<Row[]>;
  positionOf(row: Row): ListPosition;
  /**
   * Counts it, once for all pages that follow each other by cursor. What `shown` says has been seen need not be read
   * again: it counts towards the total.
   */
  count(shown: ShownPart): Promise<ListCount>;
}

/** Where in a list a request is to begin. */
interface Start {
  after: ListPosition | undefined;
  /** Items before it. */
  seen: number;
  /** As the first page counted the list. */
  counted: ListCount | undefined;
}

/**
 * Reads a page of a list, by its offset or from its cursor on.
 *
 * @returns the rows, the length of the list, and the fields of the answer about its end.
 * @throws ApiError `invalid_request` for a cursor that is none of this list, or that comes with an offset.
 */
export async function readListPage<Row>(
  list: PagedList<Row>,
  { limit, offset, cursor }: { limit: number; offset: number; cursor?: string | undefined },
): Promise<{ rows: Row[]; total: number; end: PageEnd }> {
  if (cursor !== undefined && offset !== 0) {
    throw new ApiError(
      'invalid_request',
      'The query has a cursor and an offset; a page begins at one of them.',
    );
  }
  const { after, seen, counted } =
    cursor === undefined ? { after: undefined, seen: offset, counted: undefined } : readCursor(list, cursor);
  // One more than are given tells whether there is another page.
  const found = await list.read({ limit: limit + 1, offset, after });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const known = seen + rows.length;
  const isAtEnd = found.length <= limit;
  // Past the end, nothing tells where the end was.
  const isPastEnd = rows.length === 0 && offset > 0;
  if (isAtEnd && !isPastEnd) return { rows, total: known, end: {} };
  if (isAtEnd || last === undefined) {
    const count = counted ?? (await list.count({ seen: 0, after: undefined }));
    return { rows, total: count.total, end: minimumOf(count) };
  }
  const place = list.positionOf(last);
  const count = counted ?? (await list.count({ seen: known, after: place }));
  // The list may have grown since it was counted.
  const grown = count.total > known ? count : { total: known + 1, isMinimum: true };
  const next = writeCursor(list.name, { after: place, seen: known, counted: grown });
  return { rows, total: grown.total, end: { next_cursor: next, ...minimumOf(grown) } };
}

function minimumOf({ isMinimum }: ListCount): PageEnd {
  return isMinimum ? { total_is_minimum: true } : {};
}

/** The content of a cursor. It is not signed: it opens nothing that its bearer could not list without it. */
type Content = [name: string, timeUs: string, id: string, seen: number, total: number, isMinimum: boolean];

function writeCursor(
  name: string,
  { after, seen, counted }: { after: ListPosition; seen: number; counted: ListCount },
): string {
  const content: Content = [name, String(after.timeUs), after.id, seen, counted.total, counted.isMinimum];
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

function readCursor(list: Pick<PagedList<never>, 'name' | 'isId'>, cursor: string): Start {
  const content = contentOf(cursor);
  if (content?.[0] !== list.name || !list.isId(content[2])) {
    throw new ApiError('invalid_request', 'The cursor is not one of this list.', {
      next: 'Send a next_cursor as it came, with the same filter; or leave it out, to begin anew.',
    });
  }
  const [, timeUs, id, seen, total, isMinimum] = content;
  return { after: { timeUs: BigInt(timeUs), id }, seen, counted: { total, isMinimum } };
}

function contentOf(cursor: string): Content | undefined {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  return isContent(content) ? content : undefined;
}

function isContent(value: unknown): value is Content {
  if (!Array.isArray(value) || value.length !== 6) return false;
  const [name, timeUs, id, seen, total, isMinimum] = value as unknown[];
  return (
    typeof name === 'string' &&
    // PostgreSQL keeps no such text; and far fewer digits are a time that it has.
    typeof id === 'string' &&
    !id.includes('\0') &&
    typeof timeUs === 'string' &&
    /^\d{1,17}$/.test(timeUs) &&
    isCount(seen) &&
    isCount(total) &&
    typeof isMinimum === 'boolean'
  );
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
