import type { JsonObject } from '@agent-rental/agent-runner';
import { hasTurnTime, nextTurn } from './loop-turns.js';

const SLICE_CHARACTERS = 64 * 1024;

/** The input of a run as JSON in UTF-8, made once for all code of the run that gets it. */
export class SerializedInput {
  readonly pieces: readonly Buffer[];

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
  }
}

/**
 * Serializes an input of up to megabytes. It serializes a text in slices, over several iterations of the event loop. It serializes
 * an object at once, so the caller has to bound its size.
 */
export async function serializeInput(input: string | JsonObject): Promise<SerializedInput> {
  const pieces: Buffer[] = [];
  const isText = typeof input === 'string';
  const text = isText ? input : JSON.stringify(input);
  if (isText) pieces.push(Buffer.from('"'));
  for (let at = 0; at < text.length;) {
    if (!hasTurnTime()) await nextTurn();
    const slice = text.slice(at, sliceEnd(text, at));
    pieces.push(Buffer.from(isText ? JSON.stringify(slice).slice(1, -1) : slice));
    at += slice.length;
  }
  if (isText) pieces.push(Buffer.from('"'));
  return new SerializedInput(pieces);
}

/** The end of a slice that begins at `from`. It is never between the halves of a surrogate pair. */
function sliceEnd(text: string, from: number): number {
  const end = from + SLICE_CHARACTERS;
  const isPair = /[\ud800-\udbff]/.test(text.charAt(end - 1)) && /[\udc00-\udfff]/.test(text.charAt(end));
  return isPair ? end - 1 : end;
}
