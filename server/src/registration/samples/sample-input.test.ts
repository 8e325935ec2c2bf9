import { expect, it } from 'vitest';
import { sampleInputOf } from './sample-input.js';

it.each([
  ['text without rules', { type: 'string' }, 'sample'],
  ['anything', {}, 'sample'],
  [
    'an example before a default',
    { type: 'string', examples: ['first', 'second'], default: 'third' },
    'first',
  ],
  ['a default', { type: 'string', default: 'third' }, 'third'],
  ['text in a format', { type: 'string', format: 'date' }, '2026-01-31'],
  ['text of a length', { type: 'string', minLength: 10, maxLength: 12 }, 'sample....'],
  [
    'an object, of its properties',
    {
      type: 'object',
      required: ['city'],
      properties: {
        city: { type: 'string', examples: ['Bern'] },
        days: { type: 'integer', minimum: 3 },
        unit: { enum: ['C', 'F'] },
        exact: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string', const: 'x' }, minItems: 2 },
      },
    },
    { city: 'Bern', days: 3, unit: 'C', exact: true, tags: ['x', 'x'] },
  ],
  [
    'a definition that is referred to',
    { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'object', properties: { n: { type: 'number' } } } } },
    { n: 1 },
  ],
  ['the first of several forms', { anyOf: [{ type: 'object' }, { type: 'string' }] }, {}],
])('makes an input of %s', async (_, schema, expected) => {
  expect(await sampleInputOf(schema)).toEqual(expected);
});

it.each([
  ['a pattern that nothing made up matches', { type: 'string', pattern: '^[0-9]{9}$' }],
  ['a schema of no input', { type: 'array', items: {} }],
  ['an example that breaks its own schema', { type: 'string', examples: ['long'], maxLength: 2 }],
  ['a schema that nothing matches', { not: {} }],
])('makes none for %s', async (_, schema) => {
  expect(await sampleInputOf(schema)).toBeUndefined();
});

it('ends for a schema that refers to itself', async () => {
  const tree = {
    $ref: '#/$defs/t',
    $defs: { t: { type: 'object', properties: { t: { $ref: '#/$defs/t' } } } },
  };
  expect(await sampleInputOf(tree)).toMatchObject({ t: { t: {} } });
  const wide = {
    $defs: {
      t: {
        type: 'object',
        properties: Object.fromEntries('abcdefghij'.split('').map((key) => [key, { $ref: '#/$defs/t' }])),
      },
    },
    $ref: '#/$defs/t',
  };
  expect(JSON.stringify(await sampleInputOf(wide)).length).toBeLessThan(100_000);
});
