import { endOfNumber, keepsNumber } from './json-number.js';

/** Bounds of the JSON that strangers make (docs/creators.md). */
export const JSON_BOUNDS = { bytes: 1024 * 1024, values: 50_000, names: 8_000, depth: 64 } as const;

/** Bounds of one JSON text. */
export interface JsonBounds {
  /** Most bytes in UTF-8. */
  bytes: number;
  /** Most values, objects and arrays included. */
  values: number;
  /** Most different names of members. A new name costs a parser several times as much as a known one. */
  names: number;
  /** Most levels of objects and arrays. */
  depth: number;
  /** True: also numbers that JavaScript changes are read. */
  takesAnyNumber?: boolean;
}

/** The rule that a JSON text breaks. `number`: JavaScript would change the number. */
export type JsonFault = 'bytes' | 'values' | 'depth' | 'number' | 'syntax';

/** A JSON text that is not read. The message follows the text's name: "the body" + " is nested deeper than 64 levels". */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';
  readonly fault: JsonFault;

  constructor(fault: JsonFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** More characters of a name or number are not repeated in a message. */
const MOST_TOLD_CHARACTERS = 60;
const [QUOTE, BACKSLASH, COMMA, COLON, MINUS] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE] = [0x30, 0x39];

/**
 * Checks a JSON text before it is parsed, in one pass. It does not check the syntax.
 *
 * @throws JsonTextError for a text beyond a bound, or with a number that JavaScript would change
 */
export function checkJson(text: string, bounds: JsonBounds = JSON_BOUNDS): void {
  // A character has at least a byte, and at most three.
  if (text.length > bounds.bytes || (text.length * 3 > bounds.bytes && bytesOf(text) > bounds.bytes)) {
    throw new JsonTextError('bytes', `has more than ${bounds.bytes} bytes`);
  }
  let values = 1;
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === COMMA) {
      values += 1;
    } else if (code === COLON) {
      members += 1;
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth += 1;
      if (!isEmpty(text, at)) values += 1;
      if (depth > bounds.depth) {
        throw new JsonTextError('depth', `is nested deeper than ${bounds.depth} levels`);
      }
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth -= 1;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      if (!bounds.takesAnyNumber) requireKept(text, at, end);
      at = end - 1;
    }
    if (values > bounds.values) {
      throw new JsonTextError('values', `has more than ${bounds.values} values`);
    }
  }
  if (members > bounds.names) requireFewNames(text, bounds);
}

/** @throws JsonTextError for too many different names */
function requireFewNames(text: string, { names: most }: JsonBounds): void {
  const names = new Set<string>();
  let last = '';
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      last = text.slice(at + 1, end);
      at = end;
    } else if (code === COLON && names.add(last).size > most) {
      throw new JsonTextError('values', `has more than ${most} different names`);
    }
  }
}

/**
 * Parses a JSON text that was checked.
 *
 * @throws JsonTextError with the fault `syntax`
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new JsonTextError('syntax', 'is not JSON');
  }
}

/**
 * Reads a JSON text of a stranger.
 *
 * @throws JsonTextError as `checkJson` and `parseJson` do
 */
export function readJson(text: string, bounds: JsonBounds = JSON_BOUNDS): unknown {
  checkJson(text, bounds);
  return parseJson(text);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The place of the quote that ends a string; the end of the text without one. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) break;
  }
  return at;
}

/** Whether the object or array that begins here has no member. */
function isEmpty(text: string, start: number): boolean {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x20) return code === CLOSE_ARRAY || code === CLOSE_OBJECT;
  }
  return true;
}

/** @throws JsonTextError for a number that JavaScript would change */
function requireKept(text: string, start: number, end: number): void {
  if (keepsNumber(text, start, end)) return;
  const path = pathOf(text, start);
  const isLong = end - start > MOST_TOLD_CHARACTERS;
  const shown = isLong ? `${text.slice(start, start + MOST_TOLD_CHARACTERS)}…` : text.slice(start, end);
  throw new JsonTextError(
    'number',
    `has a number that would change${path === '' ? '' : ` at ${path}`}: ${shown}. Send it as text, in quotes`,
  );
}

/** The path of the value at a place, for example `posts.0.id`. */
function pathOf(text: string, place: number): string {
  const path: (string | number)[] = [];
  let name = '';
  for (let at = 0; at < place; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      name = text.slice(at + 1, Math.min(end, at + 1 + MOST_TOLD_CHARACTERS));
      at = end;
    } else if (code === OPEN_ARRAY) path.push(0);
    else if (code === OPEN_OBJECT) path.push('');
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) path.pop();
    else if (code === COLON) path[path.length - 1] = name;
    else if (code === COMMA) {
      const last = path.at(-1);
      if (typeof last === 'number') path[path.length - 1] = last + 1;
    }
  }
  return path.join('.');
}
