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
 * How close the published schema is to the creator's. `exact`: the same. `described`: every part is there,
 * some keywords only in words. `object`: any object. `any`: any value.
 */
export type SchemaRung = 'exact' | 'described' | 'object' | 'any';

/** A listing's `input_schema`, made portable. */
export interface CompiledInput {
  readonly rung: SchemaRung;
  /** Takes every value that the creator's takes. No `$ref`; in every place one `type`, or `anyOf` of such places. */
  readonly schema: JsonObject;
  /** The agent takes plain text and nothing else. */
  readonly textOnly: boolean;
  /** Turns a value that follows `schema` into what the service accepts; the service checks it exactly. */
  readonly read: (value: unknown) => unknown;
}

/**
 * Compiles a creator's `input_schema` into the portable profile, by a ladder: exact, then unsupported
 * keywords moved into descriptions, then a plain object, then any value. Whatever a creator wrote, the
 * result is usable and never narrower, and what it lets through is judged again, exactly, by the service.
 */
export function compileInput(inputSchema: unknown): CompiledInput {
  const { node, schema } = inputNode(inputSchema);
  let reader: SchemaNode | undefined;
  return {
    rung: rungOf(node, inputSchema),
    schema,
    textOnly: node.kind === 'string',
    // Read again by the first call: most tools are never called, and their nodes would be most of what is kept.
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

/** An input is an object or a string; there is no other way to send one. */
function asInput(node: SchemaNode): SchemaNode {
  const options = optionsOf(node).filter(({ kind }) => kind === 'object' || kind === 'string');
  if (options.length === optionsOf(node).length) return node;
  const { description, notes } = node;
  if (options.length === 0) return ANY_INPUT;
  return unionOf(options, { description, notes, loose: true });
}

function isLong(schema: JsonObject): boolean {
  // Its texts are cleaned, so that nothing is twice as long as it seems.
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
  // The agent takes text: an object is more use to it as JSON than refused.
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** `{"text": "..."}`, the way to give text where a tool's input is an object. */
export function isTextObject(value: unknown): value is { text: string } {
  if (typeof value !== 'object' || value === null) return false;
  const keys = Object.keys(value);
  return keys.length === 1 && 'text' in value && typeof value.text === 'string';
}
