import { creatorLine } from '../text/creator-text.js';
import { intersectNodes, uniteNodes } from './combine.js';
import { resolvePointer } from './json-pointer.js';
import {
  isExact,
  isKind,
  isObject,
  isPutIntoWords,
  limitsOf,
  NOTE_LENGTH,
  wordsFor,
  type SchemaObject,
} from './keywords.js';
import {
  allKinds,
  anyNode,
  bareNode,
  unionOf,
  type NodeKind,
  type SchemaNode,
  type TypedNode,
} from './node.js';

/** A schema has too many parts for a model. */
class SchemaTooLargeError extends Error {
  override readonly name = 'SchemaTooLargeError';
}

const MAX_NODES = 200;
/** Deepest level of an input. With the tool's two levels, OpenAI's limit of ten holds. */
const MAX_DEPTH = 8;
const MAX_ENUM = { values: 100, valueLength: 100, totalLength: 2_000 };
const DESCRIPTION_LENGTH = 240;

/** Property names that all providers accept; Anthropic's rule is the strictest. Pydantic refuses names that begin with `_`. */
const PROPERTY_NAME = /^(?!_)[a-zA-Z0-9_.-]{1,64}$/;

const OLD_DRAFT = /json-schema\.org\/draft-0[467]\/schema/;

/** Keywords with alternative schemas. */
const ALTERNATIVES = ['anyOf', 'oneOf'] as const;

/** The state of a reading. It makes little garbage, because a page of rentals has thousands of places. */
interface Reading {
  readonly root: unknown;
  /** The schema names a draft up to draft-07, where a reference replaces all keywords beside it. */
  readonly isOld: boolean;
  /** The references and combinations on the path to the present place. */
  readonly path: unknown[];
  nodes: number;
}

/**
 * Reads a JSON Schema of any draft into a {@link SchemaNode}.
 *
 * @throws SchemaTooLargeError if the schema has too many parts after its references are followed.
 */
export function readSchema(schema: unknown): SchemaNode {
  const draft = isObject(schema) ? schema['$schema'] : undefined;
  const isOld = typeof draft === 'string' && OLD_DRAFT.test(draft);
  return read(schema, { root: schema, isOld, path: [], nodes: 0 });
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
  const reference = schema['$ref'] ?? schema['$dynamicRef'];
  if (reading.isOld && typeof reference === 'string') {
    return { ...referenced(reference, reading), ...(description === undefined ? {} : { description }) };
  }
  let node = ownKeywords(schema, description, reading);
  if (typeof reference === 'string') node = intersectNodes(node, referenced(reference, reading));
  for (const part of list(schema['allOf'])) node = intersectNodes(node, read(part, reading));
  for (const keyword of ALTERNATIVES) {
    if (schema[keyword] === undefined) continue;
    const alternatives = list(schema[keyword]).map((alternative) => read(alternative, reading));
    if (alternatives.length > 0) node = intersectNodes(node, uniteNodes(alternatives));
  }
  return description === undefined || node.description === description ? node : { ...node, description };
}

/** Replaces a recursive or too deep schema: it keeps only the type. */
function stub(schema: SchemaObject): SchemaNode {
  const { type } = schema;
  const notes = ['nested as above'];
  return isKind(type) ? bareNode(type, { loose: true, notes }) : anyNode(notes);
}

function referenced(reference: string, reading: Reading): SchemaNode {
  // Below a schema with an address, a reference begins at that schema.
  const hasAddress = reading.path
    .slice(1)
    .some((outer) => isObject(outer) && typeof outer['$id'] === 'string');
  const target = hasAddress ? undefined : resolvePointer(reading.root, reference);
  if (target === undefined) return anyNode([`$ref: ${creatorLine(reference, NOTE_LENGTH)}`]);
  return { ...read(target, reading), loose: true };
}

function ownKeywords(schema: SchemaObject, description: string | undefined, reading: Reading): SchemaNode {
  const kinds = kindsOf(schema);
  const [first] = kinds;
  if (kinds.length === 1 && first !== undefined) {
    return withWords(ofKind(first, schema, reading), schema, description);
  }
  // A keyword is a rule only for values of its type: without `type`, values of other types pass.
  const options = kinds.map((kind) => ofKind(kind, schema, reading));
  const isBare = kinds === allKinds() && options.every(saysNothing);
  return withWords(isBare ? anyNode() : unionOf(options), schema, description);
}

function saysNothing(node: TypedNode): boolean {
  const { properties, required, limits, values, items, places } = node;
  return (
    properties.size === 0 &&
    required.size === 0 &&
    values === undefined &&
    items === undefined &&
    places === undefined &&
    Object.keys(limits).length === 0
  );
}

/** Adds notes for the keywords that are not published unchanged. */
function withWords(node: SchemaNode, schema: SchemaObject, description: string | undefined): SchemaNode {
  let { loose } = node;
  let isSpoken = false;
  const kind = node.kind === 'union' ? undefined : node.kind;
  for (const keyword of Object.keys(schema)) {
    loose ||= !isExact(keyword, schema, kind);
    isSpoken ||= isPutIntoWords(keyword);
  }
  const values = allowedValues(schema);
  const notes =
    values !== undefined && !(node.kind === 'string' && node.values !== undefined) ? oneOf(values) : [];
  if (isSpoken) notes.push(...wordsFor(schema));
  return {
    ...node,
    description,
    notes: notes.length === 0 ? node.notes : [...node.notes, ...notes],
    loose: loose || notes.length > 0,
  };
}

/** The types of a schema's values. */
function kindsOf(schema: SchemaObject): readonly NodeKind[] {
  const { type } = schema;
  if (isKind(type)) return [type];
  const values = allowedValues(schema);
  const types = list(type).filter(isKind);
  // A type without a listed value has no value.
  const ofValues = values && [...new Set(values.map(kindOf))];
  if (types.length === 0) return ofValues ?? allKinds();
  const left = ofValues ? types.filter((kind) => ofValues.some((each) => holds(kind, each))) : types;
  return left.length > 0 ? left : types;
}

function holds(kind: NodeKind, other: NodeKind): boolean {
  return kind === other || (kind === 'integer' && other === 'number');
}

function kindOf(value: unknown): NodeKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as NodeKind;
}

function ofKind(kind: NodeKind, schema: SchemaObject, reading: Reading): TypedNode {
  const limits = limitsOf(kind, schema);
  if (kind === 'object') return bareNode(kind, { limits, ...objectProperties(schema, reading) });
  if (kind === 'array') return bareNode(kind, { limits, ...arrayItems(schema, reading) });
  const strings = kind === 'string' ? allowedValues(schema)?.filter(isString) : undefined;
  const values = strings !== undefined && strings.length > 0 && showable(strings) ? strings : undefined;
  return bareNode(kind, { limits, values });
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function oneOf(values: readonly unknown[]): string[] {
  const few = values.slice(0, 20).map((value) => JSON.stringify(value));
  const more = values.length > few.length ? `, … (${values.length} values)` : '';
  return [`one of ${creatorLine(few.join(', '), NOTE_LENGTH)}${more}`];
}

function arrayItems(schema: SchemaObject, reading: Reading): Partial<TypedNode> {
  // Drafts before 2020-12 have a tuple as a list under `items`, and the further items under `additionalItems`.
  const isOld = Array.isArray(schema['items']);
  const tuple = [...list(schema['prefixItems']), ...(isOld ? list(schema['items']) : [])];
  const rest = isOld ? schema['additionalItems'] : schema['items'];
  if (tuple.length === 0) return isObject(rest) ? { items: read(rest, reading) } : { loose: true };
  const places = tuple.map((place) => read(place, reading));
  const notes = [`in order: ${places.map((place) => place.description ?? place.kind).join('; ')}`];
  // Without a rule, further items may be anything.
  const items =
    rest === false
      ? uniteNodes(places)
      : uniteNodes([...places, isObject(rest) ? read(rest, reading) : anyNode()]);
  return { items, places, notes: notes.map((note) => creatorLine(note, NOTE_LENGTH)), loose: true };
}

function objectProperties(schema: SchemaObject, reading: Reading): Partial<TypedNode> {
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
  // They are still sent unchanged: the schema allows unlisted properties.
  if (unnamed.length > 0) notes.push(`also has: ${creatorLine(JSON.stringify(unnamed), NOTE_LENGTH)}`);
  if (isObject(schema['additionalProperties']) && Object.keys(schema['additionalProperties']).length > 0) {
    notes.push(
      `other properties: ${creatorLine(JSON.stringify(schema['additionalProperties']), NOTE_LENGTH)}`,
    );
  }
  return {
    properties,
    required: new Set(list(schema['required']).filter(isPropertyName)),
    open:
      notes.length > 0 || schema['additionalProperties'] === true || isObject(schema['patternProperties']),
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

/** Whether values may be published. Gemini refuses empty values, and cleaning would change a value. */
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
