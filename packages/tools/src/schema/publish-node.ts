import type { JsonObject, Json } from '@agent-rental/contract';
import { creatorLine } from '../text/creator-text.js';
import { isAny, propertiesOf, type SchemaNode, type TypedNode } from './node.js';

const DESCRIPTION_LENGTH = 320;

const scalars = (): JsonObject[] =>
  ['string', 'number', 'boolean', 'object', 'null'].map((type) => ({ type }));
/** Any value: a place needs types, and a list what is in it. Lists in lists end somewhere: what is deeper is text. */
const ANY_ITEM: JsonObject = {
  anyOf: [
    ...scalars(),
    {
      type: 'array',
      items: { anyOf: [...scalars(), { type: 'array', items: { anyOf: scalars() } }] },
    },
  ],
};

/**
 * Writes a node as JSON Schema that all large providers take: in every place one `type`, or `anyOf` of places with one
 * `type` each and nothing beside it (Gemini refuses type lists, places without a type, arrays without items, and anything
 * beside `anyOf`).
 */
export function publishNode(node: SchemaNode): JsonObject {
  if (node.kind !== 'union') return publishTyped(node, describe(node));
  const words = describe(node);
  const options = node.options.map((option, index) =>
    publishTyped(option, index === 0 ? join(words, describe(option)) : describe(option)),
  );
  return { anyOf: options };
}

/** A schema with words before what it says itself, where they may stand. */
export function describedSchema(schema: JsonObject, words: string): JsonObject {
  const [first, ...others] = (schema['anyOf'] ?? []) as JsonObject[];
  if (first !== undefined) return { ...schema, anyOf: [describedSchema(first, words), ...others] };
  const { description } = schema;
  return { ...schema, description: typeof description === 'string' ? `${words} ${description}` : words };
}

function publishTyped(node: TypedNode, description: string): JsonObject {
  const schema: Record<string, Json> = { type: node.kind };
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

function describe(node: SchemaNode): string {
  // Most nodes have a description and no more, which is a bounded line already.
  if (node.notes.length === 0) return node.description ?? '';
  return join(node.description ?? '', `(${[...new Set(node.notes)].join('; ')})`);
}

function join(...words: string[]): string {
  return creatorLine(words.filter(Boolean).join(' '), DESCRIPTION_LENGTH);
}
