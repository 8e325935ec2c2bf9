import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** One page of a list, and where the next one begins. */
export function pageOf<T>(
  list: string,
  items: readonly T[],
  start: number,
  size: number,
): { items: readonly T[]; nextCursor?: string } {
  const end = start + size;
  return { items: items.slice(start, end), ...nextAfter(list, end, items.length) };
}

/** The cursor of the page that begins at `end`, where the list goes on there. */
export function nextAfter(list: string, end: number, total: number): { nextCursor?: string } {
  return end < total ? { nextCursor: Buffer.from(`${list}:${end}`).toString('base64url') } : {};
}

/** Where the page of a cursor begins. @throws ProtocolError for one that this list did not give. */
export function startOf(list: string, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [name, digits = '', more] = Buffer.from(cursor, 'base64url').toString().split(':');
  if (name === list && more === undefined && /^\d{1,6}$/.test(digits)) return Number(digits);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not one of this list.');
}
