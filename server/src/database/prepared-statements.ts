import { Client } from 'pg';

/** Names of statements, by their texts. */
const names = new Map<string, string>();

/**
 * Has every connection parse and plan a statement once, where that takes longer than to run it: for what each request or
 * run asks. Not for statements whose best plan depends on their values, nor with `select *` of a table: a migration that
 * gives it a column would break them on the connections that know them.
 *
 * @param text with `$1`, `$2` for values; to be sent as it is.
 * @returns the text.
 */
export function prepare(text: string): string {
  if (!names.has(text)) names.set(text, `statement ${names.size + 1}`);
  return text;
}

/** A connection that sends prepared statements by their names. */
export class PreparingClient extends Client {
  // As `pg` declares it, with all its overloads.
  override query: Client['query'] = ((first: unknown, values: unknown, callback: unknown) => {
    const name = typeof first === 'string' && Array.isArray(values) ? names.get(first) : undefined;
    const query = super.query.bind(this) as (...args: unknown[]) => unknown;
    return name === undefined
      ? query(first, values, callback)
      : query({ name, text: first, values }, callback);
  }) as Client['query'];
}
