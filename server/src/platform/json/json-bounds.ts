/** Deepest nesting that is let in; nothing that we or a creator's schema describe comes near it. */
const MAX_DEPTH = 200;

/** The fault of a JSON value, found before any schema checks it. */
export interface JsonProblem {
  /** The field of the value in which it is; empty for the value itself. */
  field: string;
  kind: 'depth' | 'null_character';
  message: string;
}

const NULL_CHARACTER = { kind: 'null_character', message: 'holds a null character' } as const;
const TOO_DEEP = { kind: 'depth', message: `is nested deeper than ${MAX_DEPTH} levels` } as const;

/**
 * Finds nesting so deep that recursion fails, and null characters, which PostgreSQL's text cannot hold. Walks without
 * recursion.
 */
export function findJsonProblem(value: unknown): JsonProblem | undefined {
  const waiting: { value: unknown; depth: number; field: string }[] = [{ value, depth: 0, field: '' }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value: item, depth, field } = next;
    if (typeof item === 'string' && item.includes('\0')) return { field, ...NULL_CHARACTER };
    if (typeof item !== 'object' || item === null) continue;
    if (depth >= MAX_DEPTH) return { field, ...TOO_DEEP };
    for (const [key, inner] of Object.entries(item)) {
      if (key.includes('\0')) return { field, ...NULL_CHARACTER };
      waiting.push({ value: inner, depth: depth + 1, field: depth === 0 ? key : field });
    }
  }
  return undefined;
}
