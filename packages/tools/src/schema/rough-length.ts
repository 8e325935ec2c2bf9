/** The length that a key, a number or a bracket adds, with the characters around it. */
const AROUND = 4;

/**
 * About how long a value is as JSON, at a fraction of what writing it takes. Of text that needs no escapes but those of
 * quotation marks and backslashes, at least half of its true length.
 *
 * @param enough where counting may end.
 */
export function roughLength(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length + AROUND;
  if (typeof value === 'number') return 24;
  if (typeof value !== 'object' || value === null) return AROUND + 2;
  let length = AROUND;
  // Of an array, the keys are its places: a little more than nothing.
  for (const key in value) {
    length += key.length + AROUND + roughLength((value as Record<string, unknown>)[key], enough - length);
    if (length > enough) break;
  }
  return length;
}
