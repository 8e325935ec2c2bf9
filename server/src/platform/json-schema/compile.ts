import { canonicalJson } from '@agent-rental/contract';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';

/** Bounds on schemas that strangers write. */
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_DEPTH = 64;
const CACHE_SIZE = 256;
/**
 * References that one validation may follow. Every blow-up of a small schema goes through references: thirty that
 * each try the next one twice are a billion steps.
 */
const MAX_REFERENCES_FOLLOWED = 250_000;
/** A keyword beside each reference in the compiled schema, which counts. */
const REFERENCE_COUNTER = 'x-reference-counter';

/** A schema that cannot be used; the message says why. */
export class InvalidSchemaError extends Error {
  override readonly name = 'InvalidSchemaError';
}

/** One way in which a value does not match. `path` is a JSON pointer, empty for the value itself. */
export interface SchemaViolation {
  path: string;
  message: string;
}

/** Linear-time regular expressions: a pattern from a stranger cannot stall the process. */
function linearTimeRegExp(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = RE2JS.compile(pattern);
  // Ajv tells patterns apart by this text. Without it, Ajv would use the first pattern for all.
  return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
}
linearTimeRegExp.code = 'linearTimeRegExp';

/** Validation was given up: it would not have ended in reasonable time. */
class TooMuchWorkError extends Error {
  override readonly name = 'TooMuchWorkError';
}

let referencesFollowed = 0;

function countReference(): boolean {
  referencesFollowed += 1;
  if (referencesFollowed > MAX_REFERENCES_FOLLOWED) throw new TooMuchWorkError();
  return true;
}

/** Compiling the schema of schemas takes far longer than most schemas: once is enough. */
const metaSchema = new Ajv2020({ strict: false, logger: false });

const compiled = new Map<string, ValidateFunction>();

/**
 * Compiles a JSON Schema (draft 2020-12), or takes it from the cache.
 *
 * @throws InvalidSchemaError for a schema that is too large, too deep, refers outside itself, or is wrong.
 */
function compile(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known) {
    compiled.delete(text);
    compiled.set(text, known);
    return known;
  }
  if (text.length > MAX_SCHEMA_BYTES) throw new InvalidSchemaError('is larger than 64 KB');
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    // Done already, by the one instance that has compiled the schema of schemas.
    validateSchema: false,
    meta: false,
    validateFormats: true,
    // Or `constructor` would be a property of every object.
    ownProperties: true,
    // Or a large definition, referred to often, would be compiled as often.
    inlineRefs: false,
    code: { regExp: linearTimeRegExp },
    logger: false,
  });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  // Its pattern takes quadratic time; `uri` is the standard's own.
  ajv.addFormat('url', true);
  // The built-in one compares every item with every other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have duplicate items' },
    validate: (unique: boolean, items: unknown[]) =>
      !unique || new Set(items.map((item) => canonicalJson(item))).size === items.length,
  });
  ajv.addKeyword({ keyword: REFERENCE_COUNTER, before: '$ref', validate: countReference });
  let validate: ValidateFunction;
  try {
    const local = localSchema(schema);
    if (metaSchema.validateSchema(local) !== true) {
      throw new Error(`schema is invalid: ${metaSchema.errorsText()}`);
    }
    validate = ajv.compile(local);
  } catch (error) {
    throw new InvalidSchemaError(`is not a usable JSON Schema: ${(error as Error).message.slice(0, 200)}`);
  }
  compiled.set(text, validate);
  if (compiled.size > CACHE_SIZE) compiled.delete(compiled.keys().next().value as string);
  return validate;
}

/** Copies a schema without `$id` and `$schema`, and refuses references that lead outside it. */
function localSchema(schema: object): object {
  const copy = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new InvalidSchemaError(`is nested deeper than ${MAX_DEPTH} levels`);
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      if ((key === '$id' || key === '$schema') && typeof item === 'string') continue;
      if ((key === '$ref' || key === '$dynamicRef') && typeof item === 'string' && !item.startsWith('#')) {
        throw new InvalidSchemaError(
          'refers to another document; only references inside the schema are allowed',
        );
      }
      if (key === '$async' && typeof item === 'boolean') {
        throw new InvalidSchemaError('has the keyword "$async", which is not of JSON Schema');
      }
      Object.defineProperty(result, key, { value: copy(item, depth + 1), enumerable: true });
    }
    if (typeof result['$ref'] === 'string' || typeof result['$dynamicRef'] === 'string') {
      result[REFERENCE_COUNTER] = true;
    }
    return result;
  };
  return copy(schema, 0) as object;
}

/**
 * Checks that a schema can be used.
 *
 * @throws InvalidSchemaError saying why not.
 */
export function checkSchema(schema: object): void {
  compile(schema);
}

/**
 * Validates a value; an empty list means that it matches.
 *
 * @throws InvalidSchemaError when the schema cannot be used.
 */
export function schemaViolations(schema: object, value: unknown): SchemaViolation[] {
  const validate = compile(schema);
  referencesFollowed = 0;
  try {
    if (validate(value)) return [];
  } catch (error) {
    // A RangeError is the end of the stack: a deep value, or a schema that refers to itself for ever.
    if (!(error instanceof TooMuchWorkError || error instanceof RangeError)) throw error;
    return [{ path: '', message: 'is too deep or too intricate to be checked' }];
  }
  return (validate.errors ?? []).map(violationOf);
}

function violationOf({ instancePath, message, params }: ErrorObject): SchemaViolation {
  const { additionalProperty, unevaluatedProperty } = params as Record<string, unknown>;
  const extra = additionalProperty ?? unevaluatedProperty;
  // Names the member, which Ajv's message does not.
  if (typeof extra === 'string') {
    const path = `${instancePath}/${extra.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return { path, message: 'is an additional property, which the schema does not allow' };
  }
  return { path: instancePath, message: message ?? 'does not match' };
}
