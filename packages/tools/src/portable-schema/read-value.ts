import { propertiesOf, type SchemaNode } from './node.js';

/**
 * Turns a value that follows the published schema into one that follows the creator's: JSON text becomes
 * the value it holds, wherever the schema asked for JSON text or a model wrote text in place of an object.
 * A value that follows the creator's schema already passes unchanged.
 */
export function readValue(node: SchemaNode, value: unknown): unknown {
  if (typeof value === 'string') return readText(node, value);
  if (node.kind === 'array' && Array.isArray(value)) {
    const { items } = node;
    return items === undefined ? value : value.map((item) => readValue(items, item));
  }
  if (node.kind === 'object' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const properties = propertiesOf(node);
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => {
        const property = properties.get(name);
        return [name, property === undefined ? item : readValue(property, item)];
      }),
    );
  }
  return value;
}

function readText(node: SchemaNode, text: string): unknown {
  if (node.kind !== 'json' && node.kind !== 'null' && node.kind !== 'object' && node.kind !== 'array')
    return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const composite = typeof value === 'object' && value !== null;
  if (node.kind === 'json' || node.kind === 'null')
    return composite || node.allowsText !== true ? value : text;
  if (!composite || Array.isArray(value) !== (node.kind === 'array')) return text;
  return readValue(node, value);
}
