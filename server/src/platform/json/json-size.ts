/** The size of a JSON text, as far as it was counted: the cost of walking it. */
export interface JsonSize {
  /** Values and member names, roughly: empty objects and arrays may count one too many or too few. */
  values: number;
  depth: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts the parts of a JSON text, in one pass over its bytes and without building values. Stops above `most`. Counts
 * invalid JSON, too: the parser refuses it later.
 */
export function measureJson(bytes: Uint8Array, most: JsonSize): JsonSize {
  let values = 1;
  let level = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      // To its end: one with an even number of backslashes before it.
      for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
    } else if (byte === COMMA || byte === COLON) values += 1;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values += 1;
      level += 1;
      if (level > depth) depth = level;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) level -= 1;
    else continue;
    if (values > most.values || depth > most.depth) break;
  }
  return { values, depth };
}
