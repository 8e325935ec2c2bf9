/** A JSON value whose integers may exceed 2^53, as lamports and `rentEpoch` do. */
export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** JSON text in which a `bigint` is a plain integer, as a validator writes it. */
export function stringifyJson(value: Json): string {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(stringifyJson).join(',')}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${stringifyJson(member)}`,
  );
  return `{${members.join(',')}}`;
}

/** `Array.isArray` does not narrow to readonly arrays. */
function isArray(value: readonly Json[] | { readonly [key: string]: Json }): value is readonly Json[] {
  return Array.isArray(value);
}
