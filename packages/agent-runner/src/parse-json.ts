import type { JsonObject } from './protocol.js';

/** Deeper values are refused: code that walks a value by recursion must not run out of stack. */
export const MAX_JSON_DEPTH = 64;

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Maximum of strings, objects, arrays, keys and unpaired surrogates in one line of untrusted JSON; a key counts twice.
 * Parsing, copying and serializing take time for each of them. With this limit and a line of at most 1 MiB, each of the three
 * takes a few milliseconds.
 */
export const MAX_JSON_PARTS = 40_000;
/** Maximum of members and items of all its objects and arrays together. */
export const MAX_JSON_ITEMS = 200_000;
/** Maximum of different keys. A new key costs the parser several times as much as a known one. */
export const MAX_JSON_KEYS = 8_000;

/** Number of first keys that count as different without a lookup. */
const KEYS_UNSEEN = 500;
/** Number of characters of a string that are hashed. Most strings are values, and long. */
const HASHED_CHARACTERS = 64;
const HASH_BITS = 16;
/** Chosen by the process, so that no sender knows which keys have the same hash. */
const HASH_SEED = Math.floor(Math.random() * 2 ** 32);
const HASH_FACTOR = 0x01000193;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LOWER_U = 0x75;
/** Sets the bit that tells a lowercase letter from an uppercase one. */
const LOWERCASE = 0x20;
const LOWER_D = 0x64;
/** Characters of an escape such as \ud800. */
const ESCAPE_CHARACTERS = 6;

/** Which half of a character the escape at a position is, if it is one: \ud800 to \udbff high, \udc00 to \udfff low. */
function surrogateAt(text: string, at: number): 'high' | 'low' | undefined {
  if (text.charCodeAt(at) !== BACKSLASH || text.charCodeAt(at + 1) !== LOWER_U) return undefined;
  if ((text.charCodeAt(at + 2) | LOWERCASE) !== LOWER_D) return undefined;
  const digit = Number.parseInt(text.charAt(at + 3), 16);
  if (digit >= 0xc) return 'low';
  return digit >= 8 ? 'high' : undefined;
}

/** Checks text against the limits on JSON before it is parsed, in slices. Does not check the syntax. */
export class JsonBounds {
  #parts = 0;
  #items = 0;
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  /** Hash of the present or last string, and the number of its hashed characters. */
  #hash = 0;
  #hashed = 0;
  #keys = 0;
  /** Position of a low surrogate that completes a pair. */
  #pairedLowAt = -1;
  /** A bit for each hash of a key, once there are more than KEYS_UNSEEN. */
  #seen: Uint8Array | undefined;

  /** Continues with the characters from `from` to `to`; false when a limit is exceeded. */
  admits(text: string, from: number, to: number): boolean {
    // Local variables: this loop runs for every character of hostile output.
    let parts = this.#parts;
    let items = this.#items;
    let depth = this.#depth;
    let isString = this.#isString;
    let hash = this.#hash;
    let hashed = this.#hashed;
    let at = this.#isEscaped ? from + 1 : from;
    for (; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        isString = !isString;
        if (!isString) continue;
        parts += 1;
        hash = HASH_SEED;
        hashed = 0;
      } else if (isString) {
        if (hashed < HASHED_CHARACTERS) {
          hash = Math.imul(hash ^ code, HASH_FACTOR);
          hashed += 1;
        }
        if (code === BACKSLASH) {
          if (this.#isUnpairedSurrogate(text, at)) parts += 1;
          at += 1;
        }
      } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
        parts += 1;
        depth += 1;
        if (depth > MAX_JSON_DEPTH + 1) return false;
      } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
        depth -= 1;
      } else if (code === COLON) {
        parts += 1;
        if (this.#countKey(hash ^ hashed) > MAX_JSON_KEYS) return false;
      } else if (code === COMMA) {
        items += 1;
      }
      if (parts > MAX_JSON_PARTS || items > MAX_JSON_ITEMS) return false;
    }
    this.#parts = parts;
    this.#items = items;
    this.#depth = depth;
    this.#isString = isString;
    this.#isEscaped = at > to;
    this.#hash = hash;
    this.#hashed = hashed;
    return true;
  }

  /** Whether the escape that begins at `at` is one half of a character without its other half. */
  #isUnpairedSurrogate(text: string, at: number): boolean {
    const kind = surrogateAt(text, at);
    if (kind === undefined || at === this.#pairedLowAt) return false;
    if (kind === 'low' || surrogateAt(text, at + ESCAPE_CHARACTERS) !== 'low') return true;
    this.#pairedLowAt = at + ESCAPE_CHARACTERS;
    return false;
  }

  /** Counts a key unless one with its hash was counted before. */
  #countKey(hash: number): number {
    if (this.#keys < KEYS_UNSEEN) return (this.#keys += 1);
    const seen = (this.#seen ??= new Uint8Array(2 ** HASH_BITS / 8));
    const at = (hash ^ (hash >>> HASH_BITS)) & (2 ** HASH_BITS - 1);
    const bit = 1 << (at & 7);
    const byte = seen[at >>> 3] ?? 0;
    if ((byte & bit) === 0) {
      seen[at >>> 3] = byte | bit;
      this.#keys += 1;
    }
    return this.#keys;
  }
}

/** Checks a whole text against the limits. */
export function isWithinJsonBounds(text: string): boolean {
  return new JsonBounds().admits(text, 0, text.length);
}

/** Parses text that is within the limits; undefined when it is not a JSON object. */
export function readJsonObject(line: string): JsonObject | undefined {
  // An exception costs more than the rest of the work on a short line, so most lines must not cause one.
  const isBraced = line.charCodeAt(0) === OPEN_BRACE && line.charCodeAt(line.length - 1) === CLOSE_BRACE;
  if (!isBraced) return undefined;
  try {
    // Typed by what JSON.parse can return for it; every field is still checked by the caller.
    return JSON.parse(line) as JsonObject;
  } catch {
    return undefined;
  }
}

/**
 * Reads one line of untrusted JSON, in a time that is bounded for a line of bounded length.
 * @param isWithinBounds the result of `JsonBounds` when the caller has checked the line already.
 * @returns the object, or undefined when the line is not an object, has too many parts, or is nested too deeply.
 */
export function parseJsonObject(
  line: string,
  isWithinBounds = isWithinJsonBounds(line),
): JsonObject | undefined {
  return isWithinBounds ? readJsonObject(line) : undefined;
}
