import { readJson } from '@agent-rental/contract';
import {
  allowsNull,
  optionsOf,
  propertiesOf,
  type NodeKind,
  type SchemaNode,
  type TypedNode,
} from './node.js';

/**
 * Converts a model's value to the creator's schema.
 *
 * - Text in place of an object or a number is parsed as JSON.
 * - An absent required member that may be null becomes null.
 * - A valid value passes unchanged.
 */
export function readValue(node: SchemaNode, value: unknown): unknown {
  if (typeof value === 'string') return readText(node, value);
  if (Array.isArray(value)) {
    const array = optionsOf(node).find(({ kind }) => kind === 'array');
    return array === undefined
      ? value
      : value.map((item: unknown, index) => readItem(array, array.places?.[index], item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const object = objectFor(node, value as Record<string, unknown>);
  return object === undefined ? value : readObject(object, value);
}

function readObject(node: TypedNode, value: object): unknown {
  const properties = propertiesOf(node);
  const members = Object.entries(value).map(([name, item]): [string, unknown] => {
    const property = properties.get(name);
    return [name, property === undefined ? item : readValue(property, item)];
  });
  for (const name of node.required) {
    const property = properties.get(name);
    if (property !== undefined && allowsNull(property) && !Object.hasOwn(value, name))
      members.push([name, null]);
  }
  return Object.fromEntries(members);
}

/** The only option that fits an object; undefined if several fit. Then the object stays unchanged. */
function objectFor(node: SchemaNode, value: Record<string, unknown>): TypedNode | undefined {
  const objects = optionsOf(node).filter(({ kind }) => kind === 'object');
  if (objects.length <= 1) return objects[0];
  const meant = objects.filter(
    ({ required, properties }) =>
      [...required].every((name) => Object.hasOwn(value, name)) &&
      [...properties].every(
        ([name, property]) => !Object.hasOwn(value, name) || mayBe(property, value[name]),
      ),
  );
  return meant.length === 1 ? meant[0] : undefined;
}

/** Whether a value may fit a node, by the listed values. */
function mayBe(node: SchemaNode, value: unknown): boolean {
  if (typeof value !== 'string') return true;
  return optionsOf(node).some(({ kind, values }) => kind !== 'string' || values?.includes(value) !== false);
}

/** Reads an item of a list, or of a tuple by its place. */
function readItem({ items }: TypedNode, place: SchemaNode | undefined, item: unknown): unknown {
  const node = place ?? items;
  return node === undefined ? item : readValue(node, item);
}

/** Reads a text. It stays text if the node takes text, or if a number in it would change. */
function readText(node: SchemaNode, text: string): unknown {
  const options = optionsOf(node);
  const takesText = options.some(({ kind, values }) => kind === 'string' && values?.includes(text) !== false);
  if (takesText) return text;
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    return text;
  }
  const kinds = kindsOf(value);
  if (!options.some(({ kind }) => kinds.includes(kind))) return text;
  return typeof value === 'object' && value !== null ? readValue(node, value) : value;
}

function kindsOf(value: unknown): readonly NodeKind[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return ['number', 'integer'];
  return [typeof value as NodeKind];
}
