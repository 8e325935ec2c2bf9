import type { JsonObject, Json } from '@agent-rental/contract';
import { creatorLine } from '../text/creator-text.js';
import { anyNode, propertiesOf, type SchemaNode } from './node.js';

const DESCRIPTION_LENGTH = 320;

/** Writes a node as JSON Schema with one `type` in every place, which Gemini demands and all others take. */
export function publishNode(node: SchemaNode): JsonObject {
  const schema: Record<string, Json> = { type: publishedType(node) };
  const description = describe(node);
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
    // Absence is the one way to say null, so that what may be null may be absent.
    const required = Array.from(node.required).filter((name) => properties.get(name)?.nullable !== true);
    if (required.length > 0) schema['required'] = required;
  }
  // An array without items makes OpenAI and Gemini refuse the whole request.
  if (node.kind === 'array') schema['items'] = publishNode(node.items ?? anyNode());
  return schema;
}

function publishedType(node: SchemaNode): string {
  return node.kind === 'json' || node.kind === 'null' ? 'string' : node.kind;
}

function describe(node: SchemaNode): string {
  const isJsonText = node.kind === 'json' || node.kind === 'null';
  // Most nodes have a description and no more, which is a bounded line already.
  if (!isJsonText && node.notes.length === 0) return node.description ?? '';
  const notes = [...new Set(node.notes)];
  if (isJsonText) {
    notes.unshift(node.allowsText === true ? 'plain text, or any JSON value as JSON text' : 'as JSON text');
  }
  const words = notes.length > 0 ? `(${notes.join('; ')})` : '';
  return creatorLine([node.description ?? '', words].filter(Boolean).join(' '), DESCRIPTION_LENGTH);
}
