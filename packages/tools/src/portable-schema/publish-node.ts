import type { JsonObject, Json } from '@agent-rental/contract';
import { creatorLine } from '../creator-text.js';
import { anyNode, propertiesOf, type SchemaNode } from './node.js';

const DESCRIPTION_LENGTH = 320;

/** Writes a node as JSON Schema with one `type` in every place, which Gemini demands and all others take. */
export function publishNode(node: SchemaNode): JsonObject {
  const schema: [string, Json][] = [['type', publishedType(node)]];
  const description = describe(node);
  if (description !== '') schema.push(['description', description]);
  if (node.values !== undefined) schema.push(['enum', [...node.values]]);
  schema.push(...Object.entries(node.limits));
  if (node.kind === 'object') {
    const properties = propertiesOf(node);
    if (properties.size > 0) {
      const published = Array.from(properties, ([name, property]) => [name, publishNode(property)] as const);
      // `fromEntries` makes `__proto__` an ordinary property.
      schema.push(['properties', Object.fromEntries(published)]);
    }
    // Absence is the one way to say null, so that what may be null may be absent.
    const required = [...node.required].filter((name) => properties.get(name)?.nullable !== true);
    if (required.length > 0) schema.push(['required', required]);
  }
  // An array without items makes OpenAI and Gemini refuse the whole request.
  if (node.kind === 'array') schema.push(['items', publishNode(node.items ?? anyNode())]);
  return Object.fromEntries(schema);
}

function publishedType(node: SchemaNode): string {
  return node.kind === 'json' || node.kind === 'null' ? 'string' : node.kind;
}

function describe(node: SchemaNode): string {
  const notes = [...new Set(node.notes)];
  if (node.kind === 'json' || node.kind === 'null') {
    notes.unshift(node.allowsText === true ? 'plain text, or any JSON value as JSON text' : 'as JSON text');
  }
  const words = notes.length > 0 ? `(${notes.join('; ')})` : '';
  return creatorLine([node.description ?? '', words].filter(Boolean).join(' '), DESCRIPTION_LENGTH);
}
