import {
  isWithinJsonBounds,
  MAX_JSON_DEPTH,
  MAX_JSON_ITEMS,
  MAX_JSON_KEYS,
  MAX_JSON_PARTS,
  readJsonObject,
} from './parse-json.js';
import type { Evaluation } from './protocol.js';

/** The start of an evaluator's results: the JavaScript and Python evaluators write these keys first. */
const BEGINNINGS = ['{"value":', '{"error":'];

const TOO_INTRICATE =
  `The code returned more than it may. A value has at most ${MAX_JSON_ITEMS} items. At most ${MAX_JSON_PARTS} of them ` +
  `are texts, objects and arrays (a name counts as two texts). It has at most ${MAX_JSON_KEYS} different names. ` +
  `It is nested at most ${MAX_JSON_DEPTH} deep.`;

/** Whether a line begins like a result. Cheap, so that other output is never parsed. */
export function beginsLikeEvaluation(line: string): boolean {
  return BEGINNINGS.some((beginning) => line.startsWith(beginning));
}

/**
 * Reads a line of an evaluator as the result of its code. The code can print such a line itself. It gains nothing, because
 * it chooses its result anyway.
 * @param isWithinBounds the result of `JsonBounds` when the caller has checked the line already.
 * @returns undefined for a line that is not a result: text that the code printed past the console.
 */
export function parseEvaluation(
  line: string,
  isWithinBounds = isWithinJsonBounds(line),
): Evaluation | undefined {
  if (!beginsLikeEvaluation(line)) return undefined;
  if (!isWithinBounds) return { error: TOO_INTRICATE, stdout: '' };
  const message = readJsonObject(line);
  const stdout = message?.['stdout'];
  if (message === undefined || typeof stdout !== 'string') return undefined;
  if (typeof message['error'] === 'string') return { error: message['error'], stdout };
  const value = message['value'];
  return value === undefined ? undefined : { value, stdout };
}
