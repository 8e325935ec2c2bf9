import { LRUCache } from 'lru-cache';
import { isObject } from './dialect.js';
import { InvalidSchemaError, NeedsBacktrackingError, TooMuchWorkError } from './errors.js';
import { applies, Evaluation, type SchemaViolation } from './evaluation.js';
import { SchemaDocument } from './schema-document.js';
import type { Engine } from './text-pattern.js';

/** Bounds on schemas that strangers write. */
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_DEPTH = 64;
/** Memory of the schemas that a thread keeps. */
const CACHE_BYTES = 8 * 1024 * 1024;
/** Of a schema with many keywords, for each character of its text: measured with several shapes. */
const BYTES_PER_CHARACTER = 24;

/** Text of a schema, and the schema ready for use; null for one that the linear engine does not match. */
const compiled = new LRUCache<string, { document: SchemaDocument | null }>({
  maxSize: CACHE_BYTES,
  sizeCalculation: ({ document }, text) => BYTES_PER_CHARACTER * text.length + (document?.bytes ?? 0),
});

/** Makes a JSON Schema ready for use, or takes it from the cache; throws as {@link checkSchema}. */
function compile(schema: object, engine: Engine): SchemaDocument {
  const text = JSON.stringify(schema);
  const key = `${engine} ${text}`;
  const known = compiled.get(key);
  if (known?.document === null) throw new NeedsBacktrackingError();
  if (known) return known.document;
  let document: SchemaDocument;
  try {
    document = compileText(schema, text, engine);
  } catch (error) {
    if (error instanceof NeedsBacktrackingError) compiled.set(key, { document: null });
    throw error;
  }
  compiled.set(key, { document });
  return document;
}

function compileText(schema: object, text: string, engine: Engine): SchemaDocument {
  if (text.length > MAX_SCHEMA_BYTES) throw new InvalidSchemaError('is larger than 64 KB');
  requireShallow(schema, 0);
  if (!isObject(schema)) throw new InvalidSchemaError('is not a usable JSON Schema: it must be an object');
  return new SchemaDocument(schema, engine);
}

function requireShallow(value: unknown, depth: number): void {
  if (depth > MAX_DEPTH) throw new InvalidSchemaError(`is nested deeper than ${MAX_DEPTH} levels`);
  if (typeof value !== 'object' || value === null) return;
  for (const item of Object.values(value)) requireShallow(item, depth + 1);
}

/**
 * Checks that a schema can be used, in the draft that it names. It is not kept: most registered schemas are checked once.
 *
 * @throws InvalidSchemaError for a schema that is too large, too deep, refers outside itself, or is wrong.
 * @throws NeedsBacktrackingError when the engine does not match one of its patterns.
 */
export function checkSchema(schema: object, engine: Engine = 'any'): void {
  compileText(schema, JSON.stringify(schema), engine);
}

/**
 * Validates a value; an empty list means that it matches.
 *
 * @throws InvalidSchemaError when the schema cannot be used.
 * @throws NeedsBacktrackingError when the engine does not match one of its patterns.
 */
export function schemaViolations(schema: object, value: unknown, engine: Engine = 'any'): SchemaViolation[] {
  const { root } = compile(schema, engine);
  const evaluation = new Evaluation();
  try {
    if (applies(root, value, undefined, evaluation, undefined)) return [];
  } catch (error) {
    // A RangeError is the end of the stack: a deep value, or a schema that refers to itself for ever.
    if (!(error instanceof TooMuchWorkError || error instanceof RangeError)) throw error;
    return [{ path: '', message: 'is too deep or too intricate to be checked' }];
  }
  return evaluation.violations;
}
