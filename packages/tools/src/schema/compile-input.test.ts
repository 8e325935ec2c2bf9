import type { JsonObject } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { compileInput } from './compile-input.js';
import { breachesOfPortability } from './portability.test-support.js';

const nested = (depth: number): JsonObject => {
  let schema: JsonObject = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { type: 'object', properties: { inner: schema } };
  return schema;
};

const SCHEMAS: Record<string, unknown> = {
  nothing: {},
  'a boolean': true,
  'not a schema': 'hello',
  absent: undefined,
  'a root union': { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'string' }] },
  'a root union of objects': {
    oneOf: [
      {
        type: 'object',
        properties: { kind: { const: 'url' }, url: { type: 'string', format: 'uri' } },
        required: ['kind', 'url'],
      },
      {
        type: 'object',
        properties: { kind: { const: 'text' }, text: { type: 'string' } },
        required: ['kind', 'text'],
      },
    ],
  },
  'type lists': {
    type: 'object',
    properties: { a: { type: ['string', 'null'] }, b: { type: ['string', 'number'] } },
  },
  recursion: {
    $defs: {
      tree: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/$defs/tree' } },
        },
      },
    },
    $ref: '#/$defs/tree',
  },
  'a reference to itself': { $ref: '#' },
  'a reference that leads nowhere': {
    type: 'object',
    properties: { a: { $ref: 'https://example.com/x.json' } },
  },
  'arrays without items': { type: 'object', properties: { a: { type: 'array' }, b: { items: true } } },
  tuples: {
    type: 'object',
    properties: { point: { prefixItems: [{ type: 'number' }, { type: 'number' }], items: false } },
  },
  'zod output': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      map: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'number' } },
    },
    required: ['map'],
    additionalProperties: false,
  },
  // As text, because an object with a `then` would look like a promise to the linter.
  'conditions and patterns': JSON.parse(
    '{"type":"object","properties":{"id":{"type":"string","pattern":"^(a+)+$"},"n":{"exclusiveMinimum":0,"multipleOf":2}},' +
      '"if":{"properties":{"id":{"const":"x"}}},"then":{"required":["n"]},"not":{"required":["z"]}}',
  ),
  'names providers refuse': {
    type: 'object',
    properties: {
      größe: { type: 'number' },
      'a b': { type: 'string' },
      ['x'.repeat(65)]: { type: 'string' },
    },
    required: ['größe', 'a b'],
  },
  'a property named __proto__': JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
  ),
  'enums of every kind': {
    type: 'object',
    properties: {
      a: { enum: [1, 2] },
      b: { enum: ['x', ''] },
      c: { enum: ['x', 1, null] },
      d: { enum: Array.from({ length: 5_000 }, (_, index) => `value ${index}`) },
      e: { const: true },
      f: { type: 'string', enum: ['low', 'high', null] },
    },
  },
  'an undeclared requirement': { type: 'object', required: ['a'] },
  allOf: {
    allOf: [
      { type: 'object', properties: { a: { type: 'string' } } },
      { properties: { b: { type: 'integer' } }, required: ['b'] },
    ],
  },
  deep: nested(60),
  'very deep': nested(5_000),
  'very many': {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { type: 'string' }])),
  },
  'a bomb of references': {
    $defs: Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `d${i}`,
        {
          type: 'object',
          properties: { l: { $ref: `#/$defs/d${i + 1}` }, r: { $ref: `#/$defs/d${i + 1}` } },
        },
      ]),
    ),
    $ref: '#/$defs/d0',
  },
  'an array at the root': { type: 'array', items: { type: 'string' } },
};

describe('compileInput', () => {
  it.each(Object.entries(SCHEMAS))('publishes a portable schema for %s', (_, schema) => {
    const compiled = compileInput(schema);
    expect(breachesOfPortability(compiled.schema)).toEqual([]);
    expect(JSON.stringify(compiled.schema).length).toBeLessThan(7_000);
  });

  it('does not change a portable schema', () => {
    const schema = {
      type: 'object',
      properties: {
        csv: { type: 'string', description: 'Rows of expenses.', minLength: 1 },
        rules: { type: 'array', items: { type: 'string', enum: ['sum', 'dates'] }, maxItems: 3 },
        limit: { type: 'integer', minimum: 1, maximum: 9 },
      },
      required: ['csv'],
    };
    expect(compileInput(schema)).toMatchObject({ rung: 'exact', schema, textOnly: false });
  });

  it('moves keywords that providers refuse into descriptions', () => {
    const { rung, schema } = compileInput({
      type: 'object',
      properties: { day: { type: 'string', format: 'date', description: 'When.' }, level: { const: 'high' } },
      additionalProperties: false,
    });
    expect(rung).toBe('described');
    expect(schema['properties']).toEqual({
      day: { type: 'string', description: 'When. (format: "date")' },
      level: { type: 'string', enum: ['high'] },
    });
  });

  it('keeps alternatives apart, each with its type', () => {
    expect(compileInput(SCHEMAS['a root union of objects']).schema).toEqual({
      anyOf: [
        { type: 'object', description: 'As described next.' },
        {
          anyOf: [
            {
              type: 'object',
              properties: {
                kind: { type: 'string', enum: ['url'] },
                url: { type: 'string', description: '(format: "uri")' },
              },
              required: ['kind', 'url'],
            },
            {
              type: 'object',
              properties: { kind: { type: 'string', enum: ['text'] }, text: { type: 'string' } },
              required: ['kind', 'text'],
            },
          ],
        },
      ],
    });
    const properties = {
      a: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      b: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    };
    expect(compileInput(SCHEMAS['type lists']).schema).toEqual({
      anyOf: [
        { type: 'object', description: 'As described next.' },
        { type: 'object', properties },
      ],
    });
  });

  it('gives objects among other values a separate level, and describes them around it', () => {
    const place = {
      type: 'object',
      properties: { id: { type: 'string' }, at: { type: 'number' } },
      required: ['id'],
    };
    const { schema } = compileInput({
      type: 'object',
      properties: { parent: { anyOf: [place, { type: 'string' }] }, free: {} },
      required: ['parent', 'free'],
    });
    expect(schema).toMatchObject({
      type: 'object',
      description: '(parent: {id, at?} or string)',
      properties: {
        parent: { anyOf: [{ anyOf: [place] }, { type: 'string' }] },
        free: { anyOf: [{ anyOf: [{ type: 'object' }] }, {}, {}, {}, {}, {}] },
      },
    });
  });

  it('publishes any object before several among other values: a member may be null in another of them', () => {
    const [a, b] = ['a', 'b'].map((name) => ({ type: 'object', properties: { [name]: { type: 'string' } } }));
    const { schema } = compileInput({
      type: 'object',
      properties: { either: { anyOf: [a, b, { type: 'string' }] } },
    });
    expect(schema['properties']).toMatchObject({
      either: { anyOf: [{ anyOf: [{ type: 'object' }, a, b] }, { type: 'string' }] },
    });
  });

  it.each([
    ['a member that may be null and may be absent', { properties: { a: { type: ['string', 'null'] } } }],
    [
      'members of any name',
      { properties: { a: {} }, required: ['a'], additionalProperties: { type: 'string' } },
    ],
    [
      'a member whose name Pydantic refuses',
      { properties: { a: { type: 'string' }, _id: { type: 'string' } } },
    ],
  ])('publishes any object before one with %s', (_, object) => {
    const { schema } = compileInput({ type: 'object', ...object });
    expect(schema).toMatchObject({ anyOf: [{ type: 'object' }, { type: 'object', properties: { a: {} } }] });
    expect(JSON.stringify(schema)).not.toContain('"_id":');
  });

  it('makes alternatives of single values one list of values', () => {
    const { schema } = compileInput({
      type: 'object',
      properties: {
        size: { description: 'How large.', oneOf: [{ const: 's', title: 'Small' }, { const: 'm' }] },
      },
    });
    expect(schema['properties']).toMatchObject({ size: { type: 'string', enum: ['s', 'm'] } });
  });

  it('falls to a plain object, then to any input', () => {
    expect(compileInput(SCHEMAS['very many'])).toMatchObject({ rung: 'object', schema: { type: 'object' } });
    expect(compileInput({})).toMatchObject({
      rung: 'any',
      schema: { anyOf: [{ anyOf: [{ type: 'object' }] }, { type: 'string' }] },
    });
  });

  it('becomes a plain object only if the schema is longer than 6,000 characters', () => {
    const described = (count: number, length: number) => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `name${index}`,
          { type: 'string', description: 'x'.repeat(length) },
        ]),
      ),
    });
    const long = compileInput(described(21, 236)).schema;
    expect(JSON.stringify(long).length).toBeGreaterThan(5_900);
    expect(Object.keys(long['properties'] ?? {})).toHaveLength(21);
    expect(compileInput(described(22, 236))).toMatchObject({ rung: 'object', schema: { type: 'object' } });
  });

  it('reads the last of many members as well as the first, and one schema in several places', () => {
    const text = { type: 'string' };
    const names = Array.from({ length: 30 }, (_, index) => `name${index}`);
    const properties = Object.fromEntries(
      names.map((name) => [name, { type: 'object', properties: { text } }]),
    );
    expect(compileInput({ type: 'object', properties })).toMatchObject({
      rung: 'exact',
      schema: { properties },
    });
  });

  it('takes the words beside a reference before those behind it', () => {
    const { schema } = compileInput({
      type: 'object',
      properties: {
        said: { $ref: '#/$defs/place', description: 'Here.' },
        left: { $ref: '#/$defs/place' },
        free: { description: 'Anything.' },
      },
      required: ['free'],
      $defs: { place: { type: 'string', description: 'There.' } },
    });
    expect(schema['properties']).toMatchObject({
      said: { description: 'Here.' },
      left: { description: 'There.' },
      free: { anyOf: [{ anyOf: [{ type: 'object', description: 'Anything.' }] }, {}, {}, {}, {}, {}] },
    });
  });

  it('publishes text for an agent that takes text, and gives it text', () => {
    const compiled = compileInput({ type: 'string', description: 'A contract.' });
    expect(compiled).toMatchObject({
      textOnly: true,
      schema: { type: 'string', description: 'A contract.' },
    });
    expect(compiled.read('{"a":1}')).toBe('{"a":1}');
    expect(compiled.read({ text: 'the contract' })).toBe('the contract');
    expect(compiled.read({ a: 1 })).toBe('{"a":1}');
  });

  it('reads JSON text where the schema takes no text', () => {
    const { read } = compileInput({
      type: 'object',
      properties: {
        value: { type: ['number', 'boolean'] },
        free: {},
        list: { type: 'array', items: { type: ['object', 'number'] } },
        named: { type: 'object' },
      },
    });
    expect(read({ value: '3', free: '[1]', list: ['{"a":1}', '2'], named: '{"b":2}' })).toEqual({
      value: 3,
      free: '[1]',
      list: [{ a: 1 }, 2],
      named: { b: 2 },
    });
  });

  it.each([
    [{ kind: 'url', url: 'https://example.com' }, SCHEMAS['a root union of objects']],
    [{ a: null, b: 4 }, SCHEMAS['type lists']],
    [{ name: 'a', children: [{ name: 'b', children: [] }] }, SCHEMAS['recursion']],
    [{ größe: 4, 'a b': 'x' }, SCHEMAS['names providers refuse']],
    [{ map: { x: 1 } }, SCHEMAS['zod output']],
    [{ point: [1, 2] }, SCHEMAS['tuples']],
    ['plain words', SCHEMAS['a root union']],
  ])('lets %j through unchanged', (value, schema) => {
    expect(compileInput(schema).read(value)).toEqual(value);
  });

  it('lets a required member that may be null be absent, and gives null for it', () => {
    const { schema, read } = compileInput({
      type: 'object',
      properties: { until: { type: ['string', 'null'] }, from: { type: 'string' } },
      required: ['until', 'from'],
    });
    expect(schema['required']).toEqual(['until', 'from']);
    expect(read({ from: 'x' })).toEqual({ from: 'x', until: null });
    expect(read({ from: 'x', until: 'y' })).toEqual({ from: 'x', until: 'y' });
  });

  it('reads numbers and flags that a model wrote as text', () => {
    const { read } = compileInput({
      type: 'object',
      properties: { n: { type: 'integer' }, b: { type: 'boolean' }, s: { type: 'string' } },
    });
    expect(read({ n: '3', b: 'true', s: '3' })).toEqual({ n: 3, b: true, s: '3' });
    expect(read({ n: 'three', b: '1' })).toEqual({ n: 'three', b: '1' });
  });

  it('distinguishes text from other values if only some texts are allowed', () => {
    const { read } = compileInput({
      type: 'object',
      properties: {
        mode: { enum: ['auto', '2', true, null, 1] },
        when: { anyOf: [{ type: 'string', format: 'date' }, { type: 'number' }] },
        free: { type: ['string', 'number'] },
      },
    });
    expect(read({ mode: 'true', when: '4', free: '5' })).toEqual({ mode: true, when: '4', free: '5' });
    expect(read({ mode: '2', when: '2026-01-02' })).toEqual({ mode: '2', when: '2026-01-02' });
    expect(read({ mode: 'null' })).toEqual({ mode: null });
  });

  it('reads the inside of the only alternative that fits an object', () => {
    const { read } = compileInput({
      anyOf: [
        {
          type: 'object',
          properties: { kind: { const: 'n' }, at: { type: 'number' } },
          required: ['kind', 'at'],
        },
        {
          type: 'object',
          properties: { kind: { const: 's' }, at: { type: 'string' } },
          required: ['kind', 'at'],
        },
      ],
    });
    expect(read({ kind: 'n', at: '5' })).toEqual({ kind: 'n', at: 5 });
    expect(read({ kind: 's', at: '5' })).toEqual({ kind: 's', at: '5' });
    expect(read({ at: '5' })).toEqual({ at: '5' });
  });

  it('reads each place of a tuple by its type', () => {
    const { read } = compileInput({
      type: 'object',
      properties: { row: { prefixItems: [{ type: 'number' }, { type: 'string' }, { type: 'object' }] } },
    });
    expect(read({ row: ['1', '2', '{"a":1}'] })).toEqual({ row: [1, '2', { a: 1 }] });
  });

  it('cleans and bounds the texts of a schema', () => {
    const { schema } = compileInput({
      type: 'object',
      description: `Ignore\u202e all ${'words '.repeat(500)}`,
      properties: { a: { type: 'string', enum: ['fine', 'hid\u200bden'] } },
    });
    const text = JSON.stringify(schema);
    expect(text.length).toBeLessThan(600);
    expect(text).not.toMatch(/[\u202e\u200b]/);
  });
});
