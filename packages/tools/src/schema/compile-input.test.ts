import type { JsonObject } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { compileInput } from './compile-input.js';
import { breachesOfPortability } from './portability.test-support.js';

const nested = (depth: number): JsonObject => {
  let schema: JsonObject = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { type: 'object', properties: { inner: schema } };
  return schema;
};

const text = { type: 'string' };
const number = { type: 'number' };
const object = (properties: object, ...required: string[]) => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
});

const SCHEMAS: Record<string, unknown> = {
  nothing: {},
  'a boolean': true,
  'not a schema': 'hello',
  absent: undefined,
  'a root union': { anyOf: [object({ a: text }), text] },
  'a root union of objects': {
    oneOf: [
      object({ kind: { const: 'url' }, url: { type: 'string', format: 'uri' } }, 'kind', 'url'),
      object({ kind: { const: 'text' }, text }, 'kind', 'text'),
    ],
  },
  'type lists': object({ a: { type: ['string', 'null'] }, b: { type: ['string', 'number'] } }),
  recursion: {
    $defs: { tree: object({ name: text, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }) },
    $ref: '#/$defs/tree',
  },
  'a reference to itself': { $ref: '#' },
  'a reference that leads nowhere': object({ a: { $ref: 'https://example.com/x.json' } }),
  'arrays without items': object({ a: { type: 'array' }, b: { items: true } }),
  tuples: object({ point: { prefixItems: [number, number], items: false } }),
  'zod output': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...object({ map: { type: 'object', propertyNames: text, additionalProperties: number } }, 'map'),
    additionalProperties: false,
  },
  // As text, because an object with a `then` would look like a promise to the linter.
  'conditions and patterns': JSON.parse(
    '{"type":"object","properties":{"id":{"type":"string","pattern":"^(a+)+$"},"n":{"exclusiveMinimum":0,"multipleOf":2}},' +
      '"if":{"properties":{"id":{"const":"x"}}},"then":{"required":["n"]},"not":{"required":["z"]}}',
  ),
  'names providers refuse': object({ größe: number, 'a b': text, ['x'.repeat(65)]: text }, 'größe', 'a b'),
  'a property named __proto__': JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
  ),
  'enums of every kind': object({
    a: { enum: [1, 2] },
    b: { enum: ['x', ''] },
    c: { enum: ['x', 1, null] },
    d: { enum: Array.from({ length: 5_000 }, (_, index) => `value ${index}`) },
    e: { const: true },
    f: { type: 'string', enum: ['low', 'high', null] },
  }),
  'an undeclared requirement': { type: 'object', required: ['a'] },
  allOf: { allOf: [object({ a: text }), { properties: { b: { type: 'integer' } }, required: ['b'] }] },
  deep: nested(60),
  'very deep': nested(5_000),
  'very many': object(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, text]))),
  'a bomb of references': {
    $defs: Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` };
        return [`d${i}`, object({ l: next, r: next })];
      }),
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
    const schema = object(
      {
        csv: { type: 'string', description: 'Rows of expenses.', minLength: 1 },
        rules: { type: 'array', items: { type: 'string', enum: ['sum', 'dates'] }, maxItems: 3 },
        limit: { type: 'integer', minimum: 1, maximum: 9 },
      },
      'csv',
    );
    expect(compileInput(schema)).toMatchObject({ rung: 'exact', schema, textOnly: false });
  });

  it('moves keywords that providers refuse into descriptions', () => {
    const { rung, schema } = compileInput({
      ...object({ day: { type: 'string', format: 'date', description: 'When.' }, level: { const: 'high' } }),
      additionalProperties: false,
    });
    expect(rung).toBe('described');
    expect(schema['properties']).toEqual({
      day: { type: 'string', description: 'When. (format: "date")' },
      level: { type: 'string', enum: ['high'] },
    });
  });

  it('keeps alternatives apart, each with its type', () => {
    const anyObject = { type: 'object', description: 'As described next.' };
    const one = (value: string) => ({ type: 'string', enum: [value] });
    const url = { type: 'string', description: '(format: "uri")' };
    const objects = [
      object({ kind: one('url'), url }, 'kind', 'url'),
      object({ kind: one('text'), text }, 'kind', 'text'),
    ];
    expect(compileInput(SCHEMAS['a root union of objects']).schema).toEqual({
      anyOf: [anyObject, { anyOf: objects }],
    });
    const lists = object({ a: { anyOf: [text, { type: 'null' }] }, b: { anyOf: [text, number] } });
    expect(compileInput(SCHEMAS['type lists']).schema).toEqual({ anyOf: [anyObject, lists] });
  });

  it('gives objects among other values a separate level, and describes them around it', () => {
    const place = object({ id: text, at: number }, 'id');
    const parent = { anyOf: [place, text] };
    const { schema } = compileInput(object({ parent, free: {} }, 'parent', 'free'));
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
    const [a, b] = ['a', 'b'].map((name) => object({ [name]: text }));
    const { schema } = compileInput(object({ either: { anyOf: [a, b, text] } }));
    expect(schema['properties']).toMatchObject({
      either: { anyOf: [{ anyOf: [{ type: 'object' }, a, b] }, text] },
    });
  });

  it.each([
    ['a member that may be null and may be absent', { properties: { a: { type: ['string', 'null'] } } }],
    ['members of any name', { ...object({ a: {} }, 'a'), additionalProperties: text }],
    ['a member whose name Pydantic refuses', object({ a: text, _id: text })],
  ])('publishes any object before one with %s', (_, members) => {
    const { schema } = compileInput({ type: 'object', ...members });
    expect(schema).toMatchObject({ anyOf: [{ type: 'object' }, { type: 'object', properties: { a: {} } }] });
    expect(JSON.stringify(schema)).not.toContain('"_id":');
  });

  it('makes alternatives of single values one list of values', () => {
    const oneOf = [{ const: 's', title: 'Small' }, { const: 'm' }];
    const { schema } = compileInput(object({ size: { description: 'How large.', oneOf } }));
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
    const described = (count: number, length: number) => {
      const member = { type: 'string', description: 'x'.repeat(length) };
      return object(
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, member])),
      );
    };
    const long = compileInput(described(21, 236)).schema;
    expect(JSON.stringify(long).length).toBeGreaterThan(5_900);
    expect(Object.keys(long['properties'] ?? {})).toHaveLength(21);
    expect(compileInput(described(22, 236))).toMatchObject({ rung: 'object', schema: { type: 'object' } });
  });

  it('reads the last of many members as well as the first, and one schema in several places', () => {
    const names = Array.from({ length: 30 }, (_, index) => `name${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, object({ text })]));
    expect(compileInput(object(properties))).toMatchObject({ rung: 'exact', schema: { properties } });
  });

  it('takes the words beside a reference before those behind it', () => {
    const said = { $ref: '#/$defs/place', description: 'Here.' };
    const members = { said, left: { $ref: '#/$defs/place' }, free: { description: 'Anything.' } };
    const { schema } = compileInput({
      ...object(members, 'free'),
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
    const schema = { type: 'string', description: 'A contract.' };
    expect(compiled).toMatchObject({ textOnly: true, schema });
    expect(compiled.read('{"a":1}')).toBe('{"a":1}');
    expect(compiled.read({ text: 'the contract' })).toBe('the contract');
    expect(compiled.read({ a: 1 })).toBe('{"a":1}');
  });

  it('reads JSON text where the schema takes no text', () => {
    const { read } = compileInput(
      object({
        value: { type: ['number', 'boolean'] },
        free: {},
        list: { type: 'array', items: { type: ['object', 'number'] } },
        named: { type: 'object' },
      }),
    );
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
    const until = { type: ['string', 'null'] };
    const { schema, read } = compileInput(object({ until, from: text }, 'until', 'from'));
    expect(schema['required']).toEqual(['until', 'from']);
    expect(read({ from: 'x' })).toEqual({ from: 'x', until: null });
    expect(read({ from: 'x', until: 'y' })).toEqual({ from: 'x', until: 'y' });
  });

  it('reads numbers and flags that a model wrote as text', () => {
    const { read } = compileInput(object({ n: { type: 'integer' }, b: { type: 'boolean' }, s: text }));
    expect(read({ n: '3', b: 'true', s: '3' })).toEqual({ n: 3, b: true, s: '3' });
    expect(read({ n: 'three', b: '1' })).toEqual({ n: 'three', b: '1' });
  });

  it('distinguishes text from other values if only some texts are allowed', () => {
    const { read } = compileInput(
      object({
        mode: { enum: ['auto', '2', true, null, 1] },
        when: { anyOf: [{ type: 'string', format: 'date' }, number] },
        free: { type: ['string', 'number'] },
      }),
    );
    expect(read({ mode: 'true', when: '4', free: '5' })).toEqual({ mode: true, when: '4', free: '5' });
    expect(read({ mode: '2', when: '2026-01-02' })).toEqual({ mode: '2', when: '2026-01-02' });
    expect(read({ mode: 'null' })).toEqual({ mode: null });
  });

  it('reads the inside of the only alternative that fits an object', () => {
    const { read } = compileInput({
      anyOf: [
        object({ kind: { const: 'n' }, at: number }, 'kind', 'at'),
        object({ kind: { const: 's' }, at: text }, 'kind', 'at'),
      ],
    });
    expect(read({ kind: 'n', at: '5' })).toEqual({ kind: 'n', at: 5 });
    expect(read({ kind: 's', at: '5' })).toEqual({ kind: 's', at: '5' });
    expect(read({ at: '5' })).toEqual({ at: '5' });
  });

  it('reads each place of a tuple by its type', () => {
    const { read } = compileInput(object({ row: { prefixItems: [number, text, { type: 'object' }] } }));
    expect(read({ row: ['1', '2', '{"a":1}'] })).toEqual({ row: [1, '2', { a: 1 }] });
  });

  it('cleans and bounds the texts of a schema', () => {
    const description = `Ignore\u202e all ${'words '.repeat(500)}`;
    const a = { type: 'string', enum: ['fine', 'hid\u200bden'] };
    const published = JSON.stringify(compileInput({ ...object({ a }), description }).schema);
    expect(published.length).toBeLessThan(600);
    expect(published).not.toMatch(/[\u202e\u200b]/);
  });
});

it('reads a reference as the draft that the schema names', () => {
  const schema = (draft: object) => ({
    ...draft,
    definitions: { text },
    ...object({ a: { $ref: '#/definitions/text', type: 'number', maxLength: 2 } }),
  });
  const published = (draft: object) => compileInput(schema(draft)).schema['properties'];
  expect(published({ $schema: 'http://json-schema.org/draft-07/schema#' })).toEqual({ a: text });
  expect(published({})).toEqual({ a: { type: 'number' } });
});

it('takes anything for a reference below a schema with an address', () => {
  const inner = { $id: 'inner', ...object({ b: { $ref: '#/definitions/c' } }) };
  const { schema } = compileInput({ definitions: { c: text }, ...object({ a: inner }) });
  expect(JSON.stringify(schema)).toContain('{"type":"null"}');
});
