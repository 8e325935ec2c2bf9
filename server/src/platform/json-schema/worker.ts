/**
 * Checks schemas and values in a separate thread, one at a time. The owner ends the thread when a check takes too
 * long.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { withoutAbsentNulls } from './absent-nulls.js';
import { checkSchema, schemaViolations } from './compile.js';
import { InvalidSchemaError, NeedsBacktrackingError } from './errors.js';
import type { SchemaViolation } from './evaluation.js';
import type { Engine } from './text-pattern.js';

/** A question: whether a schema is usable, how a value breaks it, or the value without the nulls that break it. */
export type SchemaQuestion = { schema: object } & (
  | { check: 'schema' }
  | { check: 'value'; value: unknown }
  | { check: 'nulls'; value: unknown }
);

/** The answer to a question. A message about the start of the work comes first. */
export type SchemaAnswer =
  | { violations: SchemaViolation[] }
  | { value: unknown }
  | { invalidSchema: string }
  | { needsBacktracking: true }
  | { fault: string };

const { engine } = workerData as { engine: Engine };
const port = parentPort;
if (!port) throw new Error('This file runs as a worker.');

port.on('message', (question: SchemaQuestion) => {
  // `postMessage` of a thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage('started');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(answer(question));
});

function answer(question: SchemaQuestion): SchemaAnswer {
  try {
    return check(question);
  } catch (error) {
    if (error instanceof InvalidSchemaError) return { invalidSchema: error.message };
    if (error instanceof NeedsBacktrackingError) return { needsBacktracking: true };
    return { fault: error instanceof Error ? error.message : 'unknown' };
  }
}

/** @throws InvalidSchemaError, NeedsBacktrackingError */
function check(question: SchemaQuestion): SchemaAnswer {
  const { schema } = question;
  if (question.check === 'value') return { violations: schemaViolations(schema, question.value, engine) };
  if (question.check === 'nulls') return { value: withoutAbsentNulls(schema, question.value, engine) };
  checkSchema(schema, engine);
  return { violations: [] };
}
