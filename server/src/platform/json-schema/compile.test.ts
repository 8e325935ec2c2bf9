import { describe, expect, it } from 'vitest';
import { checkSchema, schemaViolations } from './compile.js';
import { InvalidSchemaError } from './errors.js';

/** `depth` schemas, each of which tries the next one twice. */
function doublingSchema(depth: number): object {
  const entries = Array.from({ length: depth }, (_, index) => {
    const next = { $ref: `#/$defs/d${index + 1}` };
    return [`d${index}`, { anyOf: [next, next] }];
  });
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(entries), [`d${depth}`]: { type: 'string' } } };
}

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('a schema that a stranger wrote', () => {
  it.each(['^(a+)+$', '^(a|a)*$', '(x+x+)+y', '^(a|aa)+$'])(
    'is matched in linear time, with the pattern %s',
    (pattern) => {
      // A backtracking engine would not come back from this text in a lifetime.
      expect(schemaViolations({ type: 'string', pattern }, `${'a'.repeat(50_000)}!`)).toHaveLength(1);
    },
  );

  it('is matched in linear time in the names of properties, too', () => {
    const schema = { patternProperties: { '^(a+)+$': { type: 'string' } }, additionalProperties: false };
    expect(schemaViolations(schema, { [`${'a'.repeat(50_000)}!`]: 1 })).toHaveLength(1);
  });

  it('is matched in linear time by every format', () => {
    expect(schemaViolations({ format: 'url' }, `${'http://a'.repeat(100_000)}\0`)).toEqual([]);
  });

  it('finds duplicates among very many items', () => {
    const items = Array.from({ length: 100_000 }, (_, index) => ({ a: index, b: [index] }));
    expect(schemaViolations({ uniqueItems: true }, items)).toEqual([]);
    const [violation] = schemaViolations({ uniqueItems: true }, [...items, { b: [7], a: 7 }]);
    expect(violation?.message).toBe('must not have duplicate items');
  });

  it('that makes validation explode is given up', () => {
    expect(schemaViolations(doublingSchema(60), 5)).toEqual([
      { path: '', message: 'is too deep or too intricate to be checked' },
    ]);
    // The next validation begins with a fresh budget.
    expect(schemaViolations(doublingSchema(3), 'text')).toEqual([]);
  });

  it('that refers to itself for ever is given up', () => {
    expect(schemaViolations({ allOf: [{ $ref: '#' }] }, 1)).toHaveLength(1);
  });

  it('that refers to a large definition very often compiles', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 400 }, (_, index) => [`p${index}`, { type: 'string', minLength: index }]),
    );
    const allOf = Array.from({ length: 200 }, () => ({ $ref: '#/$defs/large' }));
    expect(schemaViolations({ $defs: { large: { properties } }, allOf }, { p9: 'short' })[0]?.path).toBe(
      '/p9',
    );
  });

  it('of another kind than JSON Schema cannot turn validation off', () => {
    expect(schemaViolations({ $async: true, type: 'string' }, 1)).toHaveLength(1);
  });

  it.each([
    ['another host', 'https://example.com/schema.json'],
    ['a file', 'other.json'],
    ['a URN', 'urn:example:schema'],
    ['the place of its meta schema', 'https://json-schema.org/draft/2020-12/schema'],
  ])('is refused when it refers to %s', (_, $ref) => {
    expect(() => checkSchema({ properties: { a: { $ref } } })).toThrow(/refers to another document/);
    expect(() => checkSchema({ properties: { a: { $dynamicRef: $ref } } })).toThrow(InvalidSchemaError);
  });

  it('may refer inside itself, also with its own $id', () => {
    const schema = {
      $id: 'https://example.com/mine',
      $defs: { name: { type: 'string' } },
      properties: { name: { $ref: '#/$defs/name' } },
    };
    expect(schemaViolations(schema, { name: 1 })).toEqual([{ path: '/name', message: 'must be string' }]);
  });

  it('is refused when a reference leads nowhere', () => {
    expect(() => checkSchema({ $ref: '#/$defs/none' })).toThrow(InvalidSchemaError);
  });

  it('is refused when it is wrong, saying so', () => {
    expect(() => checkSchema({ type: 'text' })).toThrow(/not a usable JSON Schema/);
    expect(() => checkSchema({ properties: { a: { required: true } } })).toThrow(
      '"required" must be a list of different strings, at /properties/a',
    );
    expect(() => checkSchema({ pattern: '(' })).toThrow(/"\(", which is not a regular expression/);
    expect(() => checkSchema({ pattern: `(?=${'\\p{L}'.repeat(100)})` })).toThrow(/is too large/);
  });

  it('is refused beyond 64 levels', () => {
    const levels = (count: number) => {
      let schema: object = { type: 'string' };
      for (let level = 0; level < count; level += 1) schema = { not: schema };
      return schema;
    };
    expect(() => checkSchema(levels(63))).not.toThrow();
    expect(() => checkSchema(levels(65))).toThrow(/64 levels/);
  });

  it('is refused beyond 64 KB', () => {
    expect(() => checkSchema({ description: 'x'.repeat(60 * 1024) })).not.toThrow();
    expect(() => checkSchema({ description: 'x'.repeat(64 * 1024) })).toThrow(/64 KB/);
  });

  it('may be written for an older draft', () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string' };
    expect(schemaViolations(schema, 'text')).toEqual([]);
  });
});

it('matches each pattern of a schema by itself', () => {
  const schema = { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } };
  expect(schemaViolations(schema, { a: 'a', b: 'b' })).toEqual([]);
  expect(schemaViolations(schema, { a: 'b', b: 'b' })[0]?.path).toBe('/a');
  expect(schemaViolations(schema, { a: 'a', b: 'a' })[0]?.path).toBe('/b');
});

describe('a violation', () => {
  it.each([
    ['of the value itself', { type: 'string' }, 1, ''],
    ['of a property', { properties: { a: { type: 'string' } } }, { a: 1 }, '/a'],
    ['of an item', { properties: { a: { items: { minimum: 3 } } } }, { a: [3, 4, 1] }, '/a/2'],
    [
      'of a name with a slash and a tilde',
      { properties: { 'a/b~c': { type: 'null' } } },
      { 'a/b~c': 1 },
      '/a~1b~0c',
    ],
    ['of a format', { properties: { at: { format: 'date-time' } } }, { at: 'soon' }, '/at'],
  ])('%s has the path to it', (_, schema, value, path) => {
    const violations = schemaViolations(schema, value);
    expect(violations).toHaveLength(1);
    expect(violations[0]?.path).toBe(path);
    expect(violations[0]?.message).not.toBe('');
  });

  it('is not seen in the inherited members of every object', () => {
    const schema = { properties: { constructor: { type: 'string' }, toString: { type: 'string' } } };
    expect(schemaViolations(schema, {})).toEqual([]);
    const strict: object = JSON.parse('{"required":["__proto__"]}') as object;
    expect(schemaViolations(strict, {})).toHaveLength(1);
    expect(schemaViolations(strict, JSON.parse('{"__proto__":1}'))).toEqual([]);
  });

  it('is the result for a value too deep for its schema', () => {
    const schema = { type: 'array', items: { $ref: '#' } };
    expect(schemaViolations(schema, nested(100_000))).toEqual([
      { path: '', message: 'is too deep or too intricate to be checked' },
    ]);
  });
});
