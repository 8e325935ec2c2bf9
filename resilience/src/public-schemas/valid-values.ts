import type { Random } from '@agent-rental/test/support/random';

type Schema = Record<string, unknown>;

const MAX_DEPTH = 8;
const FORMATS: Readonly<Record<string, string>> = {
  uri: 'https://example.com/x',
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  email: 'a@example.com',
  uuid: '7ad3c2ac-ae1c-4330-b99a-b1af7f088205',
};
/** Texts that look like other values. */
const TEXTS = ['x', 'some words', '1', 'true', 'null', '{"a":1}', '[1]'];
const ANYTHING = ['x', 1, true, { a: 1 }, [1]];

/**
 * Makes a value that a schema probably accepts. It knows only the keywords that public servers use, so the caller must validate
 * the value.
 *
 * @param root the schema that contains the referenced ones
 */
export function likelyValue(schema: unknown, root: Schema, random: Random, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null) return random.pick(ANYTHING);
  if (depth > MAX_DEPTH) return null;
  const given = schema as Schema;
  const inner = (part: unknown) => likelyValue(part, root, random, depth + 1);
  if (typeof given['$ref'] === 'string') return inner(referenced(root, given['$ref']));
  if ('const' in given) return given['const'];
  if (Array.isArray(given['enum'])) return random.pick(given['enum'] as unknown[]);
  const alternatives = (given['anyOf'] ?? given['oneOf']) as unknown[] | undefined;
  if (alternatives !== undefined) {
    const { anyOf: _any, oneOf: _one, ...rest } = given;
    const chosen = inner(random.pick(alternatives));
    const isBoth = typeof chosen === 'object' && chosen !== null && 'properties' in rest;
    return isBoth ? { ...(inner(rest) as object), ...chosen } : chosen;
  }
  if (Array.isArray(given['allOf'])) return Object.assign({}, ...given['allOf'].map(inner)) as unknown;
  return ofType(typeOf(given, random), given, random, inner);
}

function typeOf({ type, properties, items }: Schema, random: Random): unknown {
  if (Array.isArray(type)) return random.pick(type as unknown[]);
  if (type !== undefined) return type;
  if (properties !== undefined) return 'object';
  return items === undefined ? random.pick(['string', 'number', 'object']) : 'array';
}

function ofType(type: unknown, schema: Schema, random: Random, inner: (part: unknown) => unknown): unknown {
  const bound = (name: string, fallback: number) => {
    const value = schema[name];
    return typeof value === 'number' ? value : fallback;
  };
  switch (type) {
    case 'string': {
      const format = FORMATS[String(schema['format'])];
      if (format !== undefined) return format;
      const text =
        schema['pattern'] === undefined ? random.pick(TEXTS) : random.pick(['abc', 'a1', '123', 'A-1']);
      return text.padEnd(bound('minLength', 0), 'x').slice(0, bound('maxLength', text.length + 100));
    }
    case 'integer':
    case 'number': {
      const least = Math.max(bound('minimum', 1), bound('exclusiveMinimum', 0) + 1);
      return Math.min(least, bound('maximum', least));
    }
    case 'boolean':
      return random.chance(50);
    case 'array': {
      const length = Math.min(Math.max(bound('minItems', 0), random.below(3)), bound('maxItems', 3));
      return Array.from({ length }, () => inner(schema['items']));
    }
    case 'object': {
      const required = (schema['required'] ?? []) as string[];
      const members = Object.entries((schema['properties'] ?? {}) as Schema)
        .filter(([name]) => required.includes(name) || random.chance(60))
        .map(([name, part]) => [name, inner(part)] as const);
      const more = schema['additionalProperties'];
      const isOpen = typeof more === 'object' && random.chance(40);
      return Object.fromEntries(isOpen ? [...members, ['another', inner(more)]] : members);
    }
    default:
      return null;
  }
}

function referenced(root: Schema, reference: string): unknown {
  let found: unknown = root;
  for (const step of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    found = (found as Schema | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return found;
}
