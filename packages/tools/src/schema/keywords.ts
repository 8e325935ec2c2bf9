import { creatorLine } from '../text/creator-text.js';
import type { NodeKind } from './node.js';

/** Longest text of a keyword's value. */
export const NOTE_LENGTH = 100;

/** An object schema. */
export type SchemaObject = Record<string, unknown>;

const KINDS: ReadonlySet<string> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

/** Keywords that stay unchanged, by kind. */
const LIMITS: Partial<Record<NodeKind, readonly string[]>> = {
  string: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
};

/**
 * Keywords that some provider refuses, published in words. Patterns are among them: a stranger's regular expression could
 * hang the validator's engine.
 */
const IN_WORDS = [
  'format',
  'pattern',
  'default',
  'multipleOf',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'uniqueItems',
  'contains',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'not',
  'if',
  'then',
  'else',
  'contentEncoding',
  'contentMediaType',
] as const;

/** The same as a set, for a fast first check: most schemas have none of them. */
const SPOKEN: ReadonlySet<string> = new Set(IN_WORDS);

/** Keywords that are published unchanged. */
const PUBLISHED: ReadonlySet<string> = new Set([
  'type',
  'description',
  'properties',
  'required',
  'items',
  'enum',
]);

/** Keywords without a rule for the value, or read elsewhere. */
const SILENT: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'examples',
]);

/** Whether a name is a type of JSON Schema. */
export function isKind(type: unknown): type is NodeKind {
  return typeof type === 'string' && KINDS.has(type);
}

/** The limits that are published unchanged; undefined without limits. */
export function limitsOf(kind: NodeKind, schema: SchemaObject): Record<string, number> | undefined {
  let limits: Record<string, number> | undefined;
  for (const keyword of LIMITS[kind] ?? []) {
    const limit = schema[keyword];
    if (isLimit(keyword, limit)) (limits ??= {})[keyword] = limit;
  }
  return limits;
}

/** Whether a keyword is published in words. */
export function isPutIntoWords(keyword: string): boolean {
  return SPOKEN.has(keyword);
}

/** The keywords of a schema that are published in words. */
export function wordsFor(schema: SchemaObject): string[] {
  return IN_WORDS.flatMap((keyword) =>
    schema[keyword] === undefined
      ? []
      : [`${keyword}: ${creatorLine(JSON.stringify(schema[keyword]), NOTE_LENGTH)}`],
  );
}

/** Whether the published schema has a keyword unchanged. */
export function isExact(keyword: string, schema: SchemaObject, kind: NodeKind | undefined): boolean {
  if (PUBLISHED.has(keyword) || SILENT.has(keyword)) return true;
  return kind !== undefined && (LIMITS[kind] ?? []).includes(keyword) && isLimit(keyword, schema[keyword]);
}

/** Whether a limit may be published: Gemini reads lengths as 64-bit integers. */
function isLimit(keyword: string, limit: unknown): limit is number {
  if (typeof limit !== 'number') return false;
  return keyword === 'minimum' || keyword === 'maximum'
    ? Number.isFinite(limit)
    : Number.isSafeInteger(limit) && limit >= 0;
}

/** Whether a schema is an object, not `true`, `false` or missing. */
export function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
