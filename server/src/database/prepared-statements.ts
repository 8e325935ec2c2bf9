import { Client } from 'pg';

/** Names of statements, by their texts. */
const names = new Map<string, string>();

/**
 * Has every connection parse and plan a statement once. It is for the statements of each request or run, whose planning
 * takes longer than their execution. It is not for statements whose best plan depends on their values. It is not for
 * `select *` either: a migration that adds a column breaks such statements on open connections.
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
