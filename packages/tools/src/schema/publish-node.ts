import type { JsonObject, Json } from '@agent-rental/contract';
import { creatorLine } from '../text/creator-text.js';
import { NOTE_LENGTH } from './keywords.js';
import { allowsNull, isAny, propertiesOf, type NodeKind, type SchemaNode, type TypedNode } from './node.js';

const DESCRIPTION_LENGTH = 320;

/**
 * Any object, before objects with properties. CrewAI makes a model from an object with properties. The model refuses unknown
 * members and sends null for each absent member. Of several options, CrewAI takes the first that fits.
 */
const ANY_OBJECT: JsonObject = { type: 'object', description: 'As described next.' };

const places = (...kinds: readonly NodeKind[]): JsonObject[] => kinds.map((type) => ({ type }));
/** Any value except a list. An object has a separate level, as in every place with other values. */
const SCALARS: readonly JsonObject[] = [
  ...places('string', 'number', 'boolean'),
  { anyOf: places('object') },
  ...places('null'),
];
/** Any value. Every place needs types, and every list needs `items`. Deeper levels of nested lists have only scalars. */
const ANY_ITEM: JsonObject = {
  anyOf: [
    ...SCALARS,
    {
      type: 'array',
      items: { anyOf: [...SCALARS, { type: 'array', items: { anyOf: [...SCALARS] } }] },
    },
  ],
};

/**
 * Writes a node as JSON Schema for all large providers. Every place has one `type`, or only `anyOf`.
 *
 * - Gemini refuses type lists, places without a type, arrays without items, and keywords beside `anyOf`.
 * - LangChain for JavaScript merges all objects in `anyOf` and forgets the other options. So objects beside other values get
 *   a nested `anyOf`, which it keeps.
 */
export function publishNode(node: SchemaNode): JsonObject {
  const words = describe(node);
  if (node.kind !== 'union') {
    const schema = publishTyped(node, words);
    return isChecked(node) ? { anyOf: [ANY_OBJECT, schema] } : schema;
  }
  const options = node.options.map((option, index) =>
    publishTyped(option, index === 0 ? join(words, describe(option)) : describe(option)),
  );
  const objects = options.filter((_, index) => node.options[index]?.kind === 'object');
  if (objects.length === 0) return { anyOf: options };
  if (objects.length === options.length) return { anyOf: [ANY_OBJECT, { anyOf: objects }] };
  const isLoose = objects.length > 1 || node.options.some(isChecked);
  const group = { anyOf: isLoose ? [ANY_OBJECT, ...objects] : objects };
  return { anyOf: [group, ...options.filter((option) => !objects.includes(option))] };
}

/** Whether CrewAI would refuse or change a valid object. */
function isChecked(node: TypedNode): boolean {
  return (
    node.properties.size > 0 &&
    (node.open ||
      [...node.properties].some(([name, property]) => !node.required.has(name) && allowsNull(property)))
  );
}

/** Adds words before a schema's description; in an `anyOf`, to the first option. */
export function describedSchema(schema: JsonObject, words: string): JsonObject {
  const [first, ...others] = (schema['anyOf'] ?? []) as JsonObject[];
  if (first !== undefined) return { ...schema, anyOf: [describedSchema(first, words), ...others] };
  const { description } = schema;
  return { ...schema, description: typeof description === 'string' ? `${words} ${description}` : words };
}

function publishTyped(node: TypedNode, words: string): JsonObject {
  const schema: Record<string, Json> = { type: node.kind };
  const description = join(words, shapesOfMembers(node));
  if (description !== '') schema['description'] = description;
  if (node.values !== undefined) schema['enum'] = [...node.values];
  Object.assign(schema, node.limits);
  if (node.kind === 'object') {
    const properties = propertiesOf(node);
    if (properties.size > 0) {
      // `fromEntries` makes `__proto__` an ordinary property.
      schema['properties'] = Object.fromEntries(
        Array.from(properties, ([name, property]) => [name, publishNode(property)]),
      );
    }
    if (node.required.size > 0) schema['required'] = [...node.required];
  }
  if (node.kind === 'array') {
    schema['items'] = node.items === undefined || isAny(node.items) ? ANY_ITEM : publishNode(node.items);
  }
  return schema;
}

/** Describes members of several shapes in words, because LangChain for JavaScript does not show the shapes. */
function shapesOfMembers({ properties }: TypedNode): string {
  const shapes: string[] = [];
  for (const [name, property] of properties) {
    if (property.kind !== 'union' || isAny(property)) continue;
    const { options } = property;
    if (!options.some(({ kind }) => kind === 'object')) continue;
    shapes.push(creatorLine(`${name}: ${options.map(shapeOf).join(' or ')}`, NOTE_LENGTH));
  }
  return shapes.length === 0 ? '' : `(${shapes.join('; ')})`;
}

function shapeOf(node: TypedNode): string {
  if (node.kind !== 'object') return node.kind;
  const names = Array.from(propertiesOf(node).keys(), (name) =>
    node.required.has(name) ? name : `${name}?`,
  );
  return names.length === 0 ? 'object' : `{${names.join(', ')}}`;
}

function describe(node: SchemaNode): string {
  // Most nodes have only a description, which is already a bounded line.
  if (node.notes.length === 0) return node.description ?? '';
  return join(node.description ?? '', `(${[...new Set(node.notes)].join('; ')})`);
}

function join(...words: string[]): string {
  return creatorLine(words.filter(Boolean).join(' '), DESCRIPTION_LENGTH);
}
