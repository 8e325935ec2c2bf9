import { propertiesOf, type SchemaNode } from './node.js';

/**
 * Turns a value that follows the published schema into one that follows the creator's: JSON text becomes
 * the value it holds, wherever the schema asked for JSON text or a model wrote text in place of an object or a
 * number, and a required member that may be null and is absent becomes null. A value that follows the creator's schema already passes unchanged.
 */
export function readValue(node: SchemaNode, value: unknown): unknown {
  if (typeof value === 'string') return readText(node, value);
  if (node.kind === 'array' && Array.isArray(value)) {
    return value.map((item: unknown, index) => readItem(node, node.places?.[index], item));
  }
  if (node.kind === 'object' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const properties = propertiesOf(node);
    const members = Object.entries(value).map(([name, item]): [string, unknown] => {
      const property = properties.get(name);
      return [name, property === undefined ? item : readValue(property, item)];
    });
    for (const name of node.required) {
      if (properties.get(name)?.nullable === true && !Object.hasOwn(value, name)) members.push([name, null]);
    }
    return Object.fromEntries(members);
  }
  return value;
}

/** An item of a list; of a tuple, what is published stands for every place, and the place says more. */
function readItem({ items }: SchemaNode, place: SchemaNode | undefined, item: unknown): unknown {
  if (place?.kind === 'string' && typeof item === 'string') return item;
  const read = items === undefined ? item : readValue(items, item);
  return place === undefined ? read : readValue(place, read);
}

function readText(node: SchemaNode, text: string): unknown {
  const { kind } = node;
  if (kind === 'string') return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const composite = type === 'array' || type === 'object';
  if (kind === 'json' || kind === 'null') {
    if (composite || node.allowsText !== true) return value;
    // Where some texts only are allowed, one that is another allowed value as JSON is that value.
    return node.isBoundText === true && !node.texts?.has(text) && node.scalars?.has(type) ? value : text;
  }
  if (type !== (kind === 'integer' ? 'number' : kind)) return text;
  return composite ? readValue(node, value) : value;
}
