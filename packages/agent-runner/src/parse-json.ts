import type { JsonObject, JsonValue } from './protocol.js';

/** Deeper values are refused: code that walks a value by recursion must not run out of stack. */
export const MAX_JSON_DEPTH = 64;

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True when no path through `value` is longer than `MAX_JSON_DEPTH`. Does not recurse itself. */
export function isShallowEnough(value: JsonValue): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) return false;
    const next: JsonValue[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const child of Object.values(item)) {
        if (typeof child === 'object' && child !== null) next.push(child);
      }
    }
    level = next;
  }
  return true;
}

/**
 * Reads one line of untrusted JSON.
 * @returns the object, or undefined when the line is not JSON, not an object, or nested too deeply.
 */
export function parseJsonObject(line: string): JsonObject | undefined {
  let value: JsonValue;
  try {
    // Typed by what JSON.parse can return at all; every field is still checked by the caller.
    value = JSON.parse(line) as JsonValue;
  } catch {
    return undefined;
  }
  return isJsonObject(value) && isShallowEnough(value) ? value : undefined;
}
