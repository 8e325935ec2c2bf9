import { fileURLToPath } from 'node:url';

/** Absolute path of the bundled agent loop: one ES module without imports, for Deno and for Node. */
export function runnerPath(): string {
  return fileURLToPath(new URL('../generated/runner.mjs', import.meta.url));
}

/** Absolute path of the bundled evaluator, which runs one piece of the model's code and ends. */
export function evaluatorPath(): string {
  return fileURLToPath(new URL('../generated/evaluator.mjs', import.meta.url));
}

/**
 * Absolute path of an evaluator that removes nothing from the runtime. Probes and tests use it to check the outer walls
 * alone. No code of a model runs in it.
 */
export function openEvaluatorPath(): string {
  return fileURLToPath(new URL('../generated/open-evaluator.mjs', import.meta.url));
}
