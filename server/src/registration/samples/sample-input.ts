import type { Json } from '@agent-rental/contract';
import { schemaViolations } from '../../platform/json-schema/checks.js';

/** Deeper parts are left out of an input that is made up. */
const MAX_DEPTH = 8;
/** Parts of a schema that are looked at: one that refers to itself widely would never end. */
const MAX_PARTS = 2_000;
/** Items that a list gets at most, however many its schema asks for. */
const MAX_ITEMS = 3;
const MAX_TEXT_CHARACTERS = 1_000;

/** An example of each format. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T09:30:00Z',
  time: '09:30:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '3f1c8a52-6b0d-4a7e-9c41-5d2e8f7a6b90',
};

type Schema = Record<string, unknown>;

/** One making of an input. */
interface Making {
  root: Schema;
  partsLeft: number;
}

/**
 * A possible input of an agent, made of the examples and defaults of its schema, and else of the plainest values. Gives
 * undefined when no match is found.
 */
export async function sampleInputOf(schema: Schema): Promise<string | Record<string, Json> | undefined> {
  const made = exampleOf(schema, { root: schema, partsLeft: MAX_PARTS }, 0);
  const isInput = typeof made === 'string' || isSchema(made);
  if (!isInput || (await schemaViolations(schema, made)).length > 0) return undefined;
  return made;
}

function exampleOf(schema: unknown, making: Making, depth: number): Json | undefined {
  if (schema === true) return 'sample';
  making.partsLeft -= 1;
  if (!isSchema(schema) || depth > MAX_DEPTH || making.partsLeft < 0) return undefined;
  const [example] = Array.isArray(schema['examples']) ? (schema['examples'] as Json[]) : [];
  const [first] = Array.isArray(schema['enum']) ? (schema['enum'] as Json[]) : [];
  const given =
    example ?? (schema['default'] as Json | undefined) ?? (schema['const'] as Json | undefined) ?? first;
  if (given !== undefined) return given;
  const referred = schema['$ref'];
  if (typeof referred === 'string') return exampleOf(resolve(referred, making.root), making, depth + 1);
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const choices = schema[keyword];
    // A root with a type beside its choices is made from that type.
    if (Array.isArray(choices) && schema['type'] === undefined)
      return exampleOf(choices[0], making, depth + 1);
  }
  const [type] = [schema['type'] ?? (isSchema(schema['properties']) ? 'object' : 'string')].flat();
  switch (type) {
    case 'object':
      return objectOf(schema, making, depth);
    case 'array': {
      const item = exampleOf(schema['items'] ?? true, making, depth + 1);
      const count = Math.min(Math.max(numberOf(schema['minItems'], 1), 1), MAX_ITEMS);
      return item === undefined ? [] : Array.from({ length: count }, () => item);
    }
    case 'integer':
    case 'number':
      return numberOf(schema['minimum'], Math.min(1, numberOf(schema['maximum'], 1)));
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return textOf(schema);
  }
}

/** Every property with any kind of example, required or not: a sample shows all inputs of the agent. */
function objectOf(schema: Schema, making: Making, depth: number): Record<string, Json> {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const made: [string, Json][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const value = exampleOf(property, making, depth + 1);
    if (value !== undefined) made.push([name, value]);
  }
  return Object.fromEntries(made);
}

function textOf(schema: Schema): string {
  const { format, title, description } = schema;
  const formatted =
    typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  const words = [formatted, title, description].find((text) => typeof text === 'string') ?? 'sample';
  const least = Math.min(numberOf(schema['minLength'], 0), MAX_TEXT_CHARACTERS);
  const most = Math.min(numberOf(schema['maxLength'], MAX_TEXT_CHARACTERS), MAX_TEXT_CHARACTERS);
  return words.padEnd(least, '.').slice(0, most);
}

/** The schema at a reference inside the root. */
function resolve(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isSchema(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;
