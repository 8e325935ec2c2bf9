import { parseJsonObject } from './parse-json.js';
import type { Evaluation } from './protocol.js';

/**
 * Reads a line of an evaluator as the result of its code. The code can print such a line itself; that gains it
 * nothing, because the result is its to choose anyway.
 * @returns undefined for a line that is not a result: something the code printed past the console.
 */
export function parseEvaluation(line: string): Evaluation | undefined {
  const message = parseJsonObject(line);
  const stdout = message?.['stdout'];
  if (message === undefined || typeof stdout !== 'string') return undefined;
  if (typeof message['error'] === 'string') return { error: message['error'], stdout };
  const value = message['value'];
  return value === undefined ? undefined : { value, stdout };
}
