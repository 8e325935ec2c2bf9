/** Checks schemas and values in a thread of its own, one at a time; the thread's owner ends it when it takes too long. */
import { parentPort } from 'node:worker_threads';
import { checkSchema, InvalidSchemaError, schemaViolations, type SchemaViolation } from './compile.js';

/** What is asked: whether a schema can be used, or how a value breaks it. */
export type SchemaQuestion = { schema: object } & ({ check: 'schema' } | { check: 'value'; value: unknown });

/** Comes after `begun`, which says that the work on a question begins. */
export type SchemaAnswer = { violations: SchemaViolation[] } | { invalidSchema: string } | { fault: string };

const port = parentPort;
if (!port) throw new Error('This file runs as a worker.');

port.on('message', (question: SchemaQuestion) => {
  // `postMessage` of a thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage('begun');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(answer(question));
});

function answer(question: SchemaQuestion): SchemaAnswer {
  try {
    if (question.check === 'value') return { violations: schemaViolations(question.schema, question.value) };
    checkSchema(question.schema);
    return { violations: [] };
  } catch (error) {
    if (error instanceof InvalidSchemaError) return { invalidSchema: error.message };
    return { fault: error instanceof Error ? error.message : 'unknown' };
  }
}
