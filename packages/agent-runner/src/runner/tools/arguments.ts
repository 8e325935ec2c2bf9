import { isJsonObject } from '../../parse-json.js';
import type { JsonObject, JsonValue } from '../../protocol.js';

/** The model called a tool in a way that cannot work; the message is for the model. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
}

/** @throws ToolProblem when the text is not a JSON object with none but the allowed keys. */
export function parseArguments(text: string, allowed: readonly string[]): JsonObject {
  let value: JsonValue;
  try {
    // Models leave the arguments of a tool without parameters empty.
    value = JSON.parse(text.trim() === '' ? '{}' : text) as JsonValue;
  } catch {
    throw new ToolProblem('The arguments are not valid JSON.');
  }
  if (!isJsonObject(value)) throw new ToolProblem('The arguments must be a JSON object.');
  const extra = Object.keys(value).find((key) => !allowed.includes(key));
  if (extra !== undefined) {
    throw new ToolProblem(
      `There is no argument ${JSON.stringify(extra)}; known: ${allowed.join(', ') || 'none'}.`,
    );
  }
  return value;
}

export function requiredText(args: JsonObject, key: string, maxCharacters = Infinity): string {
  const value = args[key];
  if (typeof value !== 'string' || value === '') throw new ToolProblem(`${key} must be a non-empty string.`);
  if (value.length > maxCharacters) {
    throw new ToolProblem(`${key} must have at most ${maxCharacters} characters.`);
  }
  return value;
}

/** The text, or the empty one for an argument left out. */
export function optionalText(args: JsonObject, key: string, maxCharacters: number): string {
  const value = args[key];
  return value === undefined || value === null || value === '' ? '' : requiredText(args, key, maxCharacters);
}

export function optionalInteger(
  args: JsonObject,
  key: string,
  { min, max, fallback }: { min: number; max: number; fallback: number },
): number {
  const value = args[key];
  // Some providers send null for an argument left out.
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new ToolProblem(`${key} must be an integer from ${min} to ${max}.`);
  }
  return value;
}

export function optionalBoolean(args: JsonObject, key: string): boolean {
  const value = args[key];
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw new ToolProblem(`${key} must be true or false.`);
  return value;
}
