import type { EvaluateMessage, Evaluation, JsonValue } from '../protocol.js';
import { captureConsole } from './captured-console.js';
import { strayError } from './stray-errors.js';

const MAX_ERROR_CHARACTERS = 2_000;

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : `Thrown: ${String(error)}`;
  return text.slice(0, MAX_ERROR_CHARACTERS);
}

/** The value as JSON; undefined (a missing return) becomes null. */
function toJson(value: unknown): JsonValue {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}

/**
 * Runs the model's code. This process runs only this code, holds only the input, and is killed afterwards. This function
 * therefore does not confine the code any further.
 */
export async function evaluate({ code, input, task }: EvaluateMessage): Promise<Evaluation> {
  const captured = captureConsole();
  Object.defineProperty(globalThis, 'console', {
    value: captured.console,
    configurable: true,
    writable: true,
  });
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
    ...parametersAndBody: string[]
  ) => (input: EvaluateMessage['input'], task: string) => Promise<unknown>;
  try {
    const body = new AsyncFunction('input', 'task', `'use strict';\n${code}`);
    const value = await Promise.race([body(input, task), strayError()]);
    return { value: toJson(value), stdout: captured.text() };
  } catch (error) {
    return { error: describe(error), stdout: captured.text() };
  }
}
