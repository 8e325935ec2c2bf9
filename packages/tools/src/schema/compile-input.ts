import type { JsonObject } from '@agent-rental/contract';
import { isObject } from './keywords.js';
import { bareNode, optionsOf, unionOf, type SchemaNode, type TypedNode } from './node.js';
import { publishNode } from './publish-node.js';
import { readSchema } from './read-schema.js';
import { readValue } from './read-value.js';
import { roughLength } from './rough-length.js';

/** Any input. */
const ANY_INPUT = unionOf([bareNode('object', { loose: true }), bareNode('string', { loose: true })]);

/** Longest published schema of one input, in characters of JSON. */
const MAX_PUBLISHED_LENGTH = 6_000;

/**
 * The precision of the published schema. `exact`: equal to the creator's. `described`: every part is there, some keywords
 * only in words. `object`: any object. `any`: any value.
 */
export type SchemaRung = 'exact' | 'described' | 'object' | 'any';

/** A listing's `input_schema`, made portable. */
export interface CompiledInput {
  readonly rung: SchemaRung;
  /** Takes every value of the creator's schema. No `$ref`. Every place has one `type`, or `anyOf` of such places. */
  readonly schema: JsonObject;
  /** The agent takes only plain text. */
  readonly textOnly: boolean;
  /** Converts a value of `schema` to the creator's schema. The service checks the exact schema. */
  readonly read: (value: unknown) => unknown;
}

/**
 * Compiles a creator's `input_schema` into the portable profile. It tries in this order: the exact schema, unsupported keywords
 * moved into descriptions, a plain object, any value. The result is always usable and never narrower than the creator's
 * schema. The service checks every input against the exact schema.
 */
export function compileInput(inputSchema: unknown): CompiledInput {
  const { node, schema } = inputNode(inputSchema);
  let reader: SchemaNode | undefined;
  return {
    rung: rungOf(node, inputSchema),
    schema,
    textOnly: node.kind === 'string',
    // The first call reads the schema again. Most tools are never called, and kept nodes would use much memory.
    read: (value) => readInput((reader ??= inputNode(inputSchema).node), value),
  };
}

function inputNode(inputSchema: unknown): { node: SchemaNode; schema: JsonObject } {
  let node: SchemaNode;
  try {
    node = readSchema(inputSchema);
  } catch {
    return published(plainNode(inputSchema));
  }
  const exact = published(asInput(node));
  return isLong(exact.schema) ? published(plainNode(inputSchema)) : exact;
}

/** Restricts an input to an object or a string, the only sendable types. */
function asInput(node: SchemaNode): SchemaNode {
  const options = optionsOf(node).filter(({ kind }) => kind === 'object' || kind === 'string');
  if (options.length === optionsOf(node).length) return node;
  const { description, notes } = node;
  if (options.length === 0) return ANY_INPUT;
  return unionOf(options, { description, notes, loose: true });
}

function isLong(schema: JsonObject): boolean {
  // Its texts are cleaned, so the estimate is at least half of the true length.
  return (
    2 * roughLength(schema, MAX_PUBLISHED_LENGTH) > MAX_PUBLISHED_LENGTH &&
    JSON.stringify(schema).length > MAX_PUBLISHED_LENGTH
  );
}

function plainNode(inputSchema: unknown): SchemaNode {
  const isOfObjects = isObject(inputSchema) && inputSchema['type'] === 'object';
  return isOfObjects ? bareNode('object', { loose: true }) : ANY_INPUT;
}

function published(node: SchemaNode): { node: SchemaNode; schema: JsonObject } {
  return { node, schema: publishNode(node) };
}

function rungOf(node: SchemaNode, inputSchema: unknown): SchemaRung {
  if (optionsOf(node).every(saysNothing) && node.kind === 'union') return 'any';
  if (!isLoose(node)) return 'exact';
  const asked = isObject(inputSchema) && Object.keys(inputSchema).length > 1;
  return node.kind === 'object' && node.properties.size === 0 && asked ? 'object' : 'described';
}

function saysNothing({ properties, required, values }: TypedNode): boolean {
  return properties.size === 0 && required.size === 0 && values === undefined;
}

function isLoose(node: SchemaNode): boolean {
  if (node.loose) return true;
  return optionsOf(node).some(
    ({ loose, items, properties }) =>
      loose || (items !== undefined && isLoose(items)) || [...properties.values()].some(isLoose),
  );
}

function readInput(node: SchemaNode, value: unknown): unknown {
  if (node.kind !== 'string' || typeof value === 'string') return readValue(node, value);
  if (isTextObject(value)) return value.text;
  // The agent takes text: give it an object as JSON, instead of a refusal.
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Whether a value is `{"text": "..."}`, the form of text in a tool's object input. */
export function isTextObject(value: unknown): value is { text: string } {
  if (typeof value !== 'object' || value === null) return false;
  const keys = Object.keys(value);
  return keys.length === 1 && 'text' in value && typeof value.text === 'string';
}
