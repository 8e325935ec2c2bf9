import { creatorLine } from '../text/creator-text.js';
import { intersectNodes, nullableNode, uniteNodes } from './combine.js';
import { resolvePointer } from './json-pointer.js';
import {
  bindsText,
  isExact,
  isKind,
  isObject,
  isPutIntoWords,
  limitsOf,
  namedKind,
  NOTE_LENGTH,
  wordsFor,
  type SchemaObject,
} from './keywords.js';
import { anyNode, bareNode, type NodeKind, type SchemaNode } from './node.js';

/** A schema has more parts than are worth showing to a model. */
class SchemaTooLargeError extends Error {
  override readonly name = 'SchemaTooLargeError';
}

const MAX_NODES = 200;
/** Under the tool's own two levels, so that all stay within the ten that OpenAI takes. */
const MAX_DEPTH = 8;
const MAX_ENUM = { values: 100, valueLength: 100, totalLength: 2_000 };
const DESCRIPTION_LENGTH = 240;

/** Property names that Anthropic accepts; the others do too. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Keywords of which one of several schemas holds. */
const ALTERNATIVES = ['anyOf', 'oneOf'] as const;

/** A page of rentals has thousands of places: what is read of each makes as little garbage as it can. */
interface Reading {
  readonly root: unknown;
  /** The references and combinations that led to where the reading is. */
  readonly path: unknown[];
  nodes: number;
}

/**
 * Reads a JSON Schema of any draft into a {@link SchemaNode}.
 *
 * @throws SchemaTooLargeError when it has too many parts once its references are followed.
 */
export function readSchema(schema: unknown): SchemaNode {
  return read(schema, { root: schema, path: [], nodes: 0 });
}

function read(schema: unknown, reading: Reading): SchemaNode {
  reading.nodes += 1;
  if (reading.nodes > MAX_NODES) throw new SchemaTooLargeError('The schema has too many parts.');
  if (!isObject(schema)) return anyNode();
  if (reading.path.length > MAX_DEPTH || reading.path.includes(schema)) return stub(schema);
  reading.path.push(schema);
  const node = readObject(schema, reading);
  reading.path.pop();
  return node;
}

function readObject(schema: SchemaObject, reading: Reading): SchemaNode {
  const said = schema['description'] ?? schema['title'];
  const description = typeof said === 'string' ? creatorLine(said, DESCRIPTION_LENGTH) : undefined;
  let node = ownKeywords(schema, description, reading);
  const reference = schema['$ref'] ?? schema['$dynamicRef'];
  if (typeof reference === 'string') node = intersectNodes(node, referenced(reference, reading));
  for (const part of list(schema['allOf'])) node = intersectNodes(node, read(part, reading));
  for (const keyword of ALTERNATIVES) {
    if (schema[keyword] === undefined) continue;
    const alternatives = list(schema[keyword]).map((alternative) => read(alternative, reading));
    if (alternatives.length > 0) node = intersectNodes(node, uniteNodes(alternatives));
  }
  return description === undefined || node.description === description ? node : { ...node, description };
}

/** What stands for a schema that contains itself, or lies too deep: its kind and no more. */
function stub(schema: SchemaObject): SchemaNode {
  const kind = namedKind(schema);
  const notes = ['nested as above'];
  if (kind === 'array') return bareNode('array', { items: anyNode(), loose: true, notes });
  return kind === 'object' ? bareNode('object', { loose: true, notes }) : anyNode(notes);
}

function referenced(reference: string, reading: Reading): SchemaNode {
  const target = resolvePointer(reading.root, reference);
  if (target === undefined) return anyNode([`$ref: ${creatorLine(reference, NOTE_LENGTH)}`]);
  return { ...read(target, reading), loose: true };
}

function ownKeywords(schema: SchemaObject, description: string | undefined, reading: Reading): SchemaNode {
  const kinds = kindsOf(schema);
  const [first] = kinds;
  const node =
    kinds.length === 1 && first !== undefined && first !== 'null'
      ? ofKind(first, schema, description, reading)
      : uniteNodes(kinds.map((kind) => ofKind(kind, schema, description, reading)));
  let { loose } = node;
  let isSpoken = false;
  for (const keyword of Object.keys(schema)) {
    loose ||= !isExact(keyword, schema, node.kind);
    isSpoken ||= isPutIntoWords(keyword);
  }
  if (isSpoken) return { ...node, notes: [...node.notes, ...wordsFor(schema)], loose };
  return loose === node.loose ? node : { ...node, loose };
}

function kindsOf(schema: SchemaObject): readonly NodeKind[] {
  const { type } = schema;
  if (isKind(type)) return [type];
  const types = list(type).filter(isKind);
  if (types.length > 0) return types;
  const values = allowedValues(schema);
  return [values === undefined ? namedKind(schema) : kindOfValues(values)];
}

function ofKind(
  kind: NodeKind,
  schema: SchemaObject,
  description: string | undefined,
  reading: Reading,
): SchemaNode {
  const values = allowedValues(schema);
  if (kind === 'json') return ofMixedValues(values, description);
  const limits = limitsOf(kind, schema);
  if (kind === 'object') return bareNode(kind, { description, limits, ...objectProperties(schema, reading) });
  if (kind === 'array') return bareNode(kind, { description, limits, ...arrayItems(schema, reading) });
  if (values !== undefined) {
    const strings = values.filter((value) => typeof value === 'string');
    const shown =
      kind === 'string' && strings.length > 0 && showable(strings)
        ? bareNode(kind, {
            description,
            limits,
            values: strings,
            isBoundText: true,
            loose: strings.length < values.length,
          })
        : bareNode(kind, { description, limits, notes: oneOf(values), isBoundText: true, loose: true });
    return values.includes(null) && kind !== 'null' ? nullableNode(shown) : shown;
  }
  const isBoundText = kind === 'string' ? bindsText(schema) : undefined;
  return bareNode(kind, { description, limits, isBoundText });
}

/** Values of several types. */
function ofMixedValues(values: readonly unknown[] | undefined, description: string | undefined): SchemaNode {
  if (values === undefined) return { ...anyNode(), description };
  const texts = values.filter((value) => typeof value === 'string');
  return bareNode('json', {
    description,
    allowsText: texts.length > 0,
    isBoundText: true,
    texts: new Set(texts),
    scalars: new Set(values.map((value) => (value === null ? 'null' : typeof value))),
    notes: oneOf(values),
    loose: true,
  });
}

function oneOf(values: readonly unknown[]): string[] {
  const few = values.slice(0, 20).map((value) => JSON.stringify(value));
  const more = values.length > few.length ? `, … (${values.length} values)` : '';
  return [`one of ${creatorLine(few.join(', '), NOTE_LENGTH)}${more}`];
}

function arrayItems(schema: SchemaObject, reading: Reading): Partial<SchemaNode> {
  // Drafts before 2020-12 wrote a tuple as a list under `items`.
  const tuple = [...list(schema['prefixItems']), ...(Array.isArray(schema['items']) ? schema['items'] : [])];
  const items = Array.isArray(schema['items']) ? undefined : schema['items'];
  if (tuple.length === 0) {
    return { items: isObject(items) ? read(items, reading) : anyNode(), loose: !isObject(items) };
  }
  const places = tuple.map((place) => read(place, reading));
  const notes = [`in order: ${places.map((place) => place.description ?? place.kind).join('; ')}`];
  if (isObject(items)) places.push(read(items, reading));
  return {
    items: uniteNodes(places),
    places: places.slice(0, tuple.length),
    notes: notes.map((note) => creatorLine(note, NOTE_LENGTH)),
    loose: true,
  };
}

function objectProperties(schema: SchemaObject, reading: Reading): Partial<SchemaNode> {
  const properties = new Map<string, SchemaNode>();
  const unnamed: string[] = [];
  const given = schema['properties'];
  if (isObject(given)) {
    for (const name of Object.keys(given)) {
      if (PROPERTY_NAME.test(name)) properties.set(name, read(given[name], reading));
      else unnamed.push(name);
    }
  }
  const notes: string[] = [];
  // Still sent as they are: nothing forbids properties that are not listed.
  if (unnamed.length > 0) notes.push(`also has: ${creatorLine(JSON.stringify(unnamed), NOTE_LENGTH)}`);
  if (isObject(schema['additionalProperties']) && Object.keys(schema['additionalProperties']).length > 0) {
    notes.push(
      `other properties: ${creatorLine(JSON.stringify(schema['additionalProperties']), NOTE_LENGTH)}`,
    );
  }
  return {
    properties,
    required: new Set(list(schema['required']).filter(isPropertyName)),
    notes,
    loose: notes.length > 0,
  };
}

function isPropertyName(name: unknown): name is string {
  return typeof name === 'string' && PROPERTY_NAME.test(name);
}

function allowedValues(schema: SchemaObject): unknown[] | undefined {
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}

function kindOfValues(values: readonly unknown[]): NodeKind {
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  const [kind] = kinds;
  if (kinds.size !== 1) return 'json';
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : 'json';
}

/** Whether values may be published: Gemini refuses empty ones, and cleaning one would make it another value. */
function showable(values: readonly string[]): boolean {
  if (values.length > MAX_ENUM.values) return false;
  if (values.reduce((total, value) => total + value.length, 0) > MAX_ENUM.totalLength) return false;
  return values.every(
    (value) =>
      value !== '' && value.length <= MAX_ENUM.valueLength && creatorLine(value, value.length) === value,
  );
}

const NONE: readonly never[] = [];

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? NONE : [value];
}
