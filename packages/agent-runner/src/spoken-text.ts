import type { JsonObject } from './protocol.js';

/**
 * A model's text before a tool call is either a short remark or the start of its answer. A text of more characters than this
 * counts as the answer, so that it can leave while the model still writes it.
 */
export const SPOKEN_CHARACTERS = 160;

/** The separator of an answer's parts, between which the model called tools. */
export const SPOKEN_SEPARATOR = '\n\n';

/** Keywords that describe a text and refuse none. */
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

/** True for an output schema that takes any text. No part of such an answer is ever taken back. */
export function takesAnyText(outputSchema: JsonObject): boolean {
  return outputSchema['type'] === 'string' && Object.keys(outputSchema).every((key) => ANNOTATIONS.has(key));
}

/** Adds a part to an answer. */
export function addSpoken(answer: string, part: string): string {
  return answer === '' ? part : `${answer}${SPOKEN_SEPARATOR}${part}`;
}
