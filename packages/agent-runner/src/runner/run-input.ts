import type { RunRequest } from '../protocol.js';

/** The input of a run as text: a string as it is, an object as indented JSON. Undefined when there is none. */
export function inputText(input: RunRequest['input']): string | undefined {
  if (input === undefined) return undefined;
  return typeof input === 'string' ? input : JSON.stringify(input, null, 2);
}
