import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** One page of a list, and the start of the next page. */
export function pageOf<T>(
  list: string,
  items: readonly T[],
  start: number,
  size: number,
): { items: readonly T[]; nextCursor?: string } {
  const end = start + size;
  return { items: items.slice(start, end), ...nextAfter(list, end, items.length) };
}

/** The start of a page: an offset, and a place for the list's owner. */
interface PageStart {
  readonly start: number;
  readonly place?: string | undefined;
}

/** The cursor of the page that begins at `end`, if there is one. */
export function nextAfter(list: string, end: number, total: number, place?: string): { nextCursor?: string } {
  const parts = [list, end, ...(place === undefined ? [] : [place])];
  return end < total ? { nextCursor: Buffer.from(parts.join(':')).toString('base64url') } : {};
}

/** The start of a cursor's page. @throws ProtocolError for a cursor of another list. */
export function startOf(list: string, cursor: string | undefined): PageStart {
  if (cursor === undefined) return { start: 0 };
  const [name, digits = '', place, more] = Buffer.from(cursor, 'base64url').toString().split(':');
  const isPlace = place === undefined || /^[\w-]{1,400}$/.test(place);
  if (name === list && more === undefined && isPlace && /^\d{1,6}$/.test(digits)) {
    return { start: Number(digits), place };
  }
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not one of this list.');
}
