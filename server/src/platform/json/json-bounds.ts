/** Deepest nesting that is let in; nothing that we or a creator's schema describe comes near it. */
const MAX_DEPTH = 200;

/** The fault of a JSON value, found before any schema checks it. */
export interface JsonProblem {
  /** The field of the value in which it is; empty for the value itself. */
  field: string;
  kind: 'depth' | 'text';
  message: string;
}

const NULL_CHARACTER = { kind: 'text', message: 'holds a null character' } as const;
const HALF_A_PAIR = { kind: 'text', message: 'holds half of a surrogate pair' } as const;
const TOO_DEEP = { kind: 'depth', message: `is nested deeper than ${MAX_DEPTH} levels` } as const;

/** The fault of a text that PostgreSQL's JSON cannot hold. */
function findTextProblem(text: string): typeof NULL_CHARACTER | typeof HALF_A_PAIR | undefined {
  if (text.includes('\0')) return NULL_CHARACTER;
  return /\p{Cs}/u.test(text) ? HALF_A_PAIR : undefined;
}

/** Finds nesting so deep that recursion fails, and texts that PostgreSQL's JSON cannot hold. Walks without recursion. */
export function findJsonProblem(value: unknown): JsonProblem | undefined {
  const waiting: { value: unknown; depth: number; field: string }[] = [{ value, depth: 0, field: '' }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value: item, depth, field } = next;
    const problem = typeof item === 'string' ? findTextProblem(item) : undefined;
    if (problem) return { field, ...problem };
    if (typeof item !== 'object' || item === null) continue;
    if (depth >= MAX_DEPTH) return { field, ...TOO_DEEP };
    for (const [key, inner] of Object.entries(item)) {
      const inName = findTextProblem(key);
      if (inName) return { field, ...inName };
      waiting.push({ value: inner, depth: depth + 1, field: depth === 0 ? key : field });
    }
  }
  return undefined;
}
