import { expect, it } from 'vitest';
import { inputFields } from './input-fields.js';

const kindsOf = (schema: Record<string, unknown>) =>
  inputFields(schema).map(({ name, kind, isRequired }) => [name, kind, isRequired]);

it('gives a field for each member, what is required first, and JSON for what is not simple [SVC-23]', () => {
  const properties = {
    note: { type: 'string' },
    code: { type: 'string', maxLength: 8 },
    day: { type: 'string', format: 'date' },
    count: { type: 'integer' },
    share: { type: 'number' },
    isNew: { type: 'boolean' },
    tone: { enum: ['kind', 'plain'] },
    mixed: { enum: ['kind', null] },
    parts: { type: 'array' },
    either: { type: 'string', anyOf: [{ minLength: 1 }] },
    any: true,
  };
  expect(kindsOf({ type: 'object', properties, required: ['parts', 'absent'] })).toEqual([
    ['parts', 'json', true],
    ['note', 'text', false],
    ['code', 'line', false],
    ['day', 'line', false],
    ['count', 'number', false],
    ['share', 'number', false],
    ['isNew', 'boolean', false],
    ['tone', 'choice', false],
    ['mixed', 'json', false],
    ['either', 'json', false],
    ['any', 'json', false],
  ]);
});

it.each([
  ['an empty schema', {}],
  ['an object without members', { type: 'object' }],
  ['alternatives', { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }] }],
  ['a reference', { $ref: '#/$defs/x', properties: { a: {} } }],
  ['members that are no schemas', { type: 'object', properties: 'all of them' }],
  [
    'more members than a person fills in',
    { type: 'object', properties: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`m${i}`, {}])) },
  ],
])('gives one field of JSON for %s', (_, schema) => {
  expect(kindsOf(schema)).toEqual([[undefined, 'json', false]]);
});

it('gives one field for a text', () => {
  expect(kindsOf({ type: 'string' })).toEqual([[undefined, 'text', true]]);
});
