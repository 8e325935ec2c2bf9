import type { JsonObject } from './protocol.js';

/**
 * What a model writes before it calls a tool is either a word in passing or the beginning of its answer. Beyond this
 * many characters it is the answer: only so can text leave while it is still being written.
 */
export const SPOKEN_CHARACTERS = 160;

/** Stands between the parts of an answer that tools were called in between. */
export const SPOKEN_SEPARATOR = '\n\n';

/** Keywords that say something of a text and refuse none. */
const ANNOTATIONS = new Set([
  'type',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$schema',
  '$id',
  '$comment',
]);

/** True for an output schema that takes any text: nothing of an answer is then ever taken back. */
export function takesAnyText(outputSchema: JsonObject): boolean {
  return outputSchema['type'] === 'string' && Object.keys(outputSchema).every((key) => ANNOTATIONS.has(key));
}

/** Adds a part to an answer. */
export function addSpoken(answer: string, part: string): string {
  return answer === '' ? part : `${answer}${SPOKEN_SEPARATOR}${part}`;
}
