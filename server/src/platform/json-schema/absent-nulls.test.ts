import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutAbsentNulls } from './absent-nulls.js';
import { schemaViolations } from './compile.js';

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    note: { type: 'string' },
    parent: { type: ['string', 'null'] },
    inner: {
      type: 'object',
      properties: { at: { type: 'string' }, 'a/b~c': { type: 'integer' } },
      additionalProperties: false,
    },
    items: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/part' }, { type: 'string' }] } },
  },
  required: ['name'],
  additionalProperties: false,
  $defs: {
    part: {
      type: 'object',
      properties: { id: { type: 'integer' }, of: { type: 'string' } },
      required: ['id'],
    },
  },
};

describe('null for an optional member', () => {
  it.each([
    ['that may not be null is absence', { name: 'a', note: null }, { name: 'a' }],
    ['that may be null stays', { name: 'a', parent: null, note: null }, { name: 'a', parent: null }],
    ['that the schema does not know is absence', { name: 'a', toolCallId: null }, { name: 'a' }],
    ['is absence at every depth', { name: 'a', inner: { at: null } }, { name: 'a', inner: {} }],
    ['is absence under any name', { name: 'a', inner: { 'a/b~c': null } }, { name: 'a', inner: {} }],
    [
      'is absence in an alternative',
      { name: 'a', items: [{ id: 1, of: null }] },
      { name: 'a', items: [{ id: 1 }] },
    ],
  ])('%s', (_, given, expected) => {
    expect(withoutAbsentNulls(SCHEMA, given)).toEqual(expected);
  });

  it.each([
    ['a required member', { name: null }],
    ['an item of a list', { name: 'a', items: [null] }],
    ['beside a value that is wrong without it', { name: 5, note: null }],
  ])('is none where it is %s', (_, given) => {
    expect(withoutAbsentNulls(SCHEMA, given)).toBeUndefined();
  });

  it('keeps an ordinary member named __proto__', () => {
    const given = JSON.parse('{"__proto__": {"a": null}, "b": null}') as object;
    const schema = { additionalProperties: { type: 'object', additionalProperties: { type: 'string' } } };
    expect(JSON.stringify(withoutAbsentNulls(schema, given))).toBe('{"__proto__":{}}');
  });

  it('gives a value that matches, or none, and changes nothing but nulls', () => {
    const value = fc.object({
      key: fc.constantFrom(...Object.keys(SCHEMA.properties), 'at', 'id', 'of'),
      maxDepth: 4,
    });
    fc.assert(
      fc.property(value, (random) => {
        const given = { ...random, name: 'a' };
        const before = JSON.stringify(given);
        const cleaned = withoutAbsentNulls(SCHEMA, given);
        expect(JSON.stringify(given)).toBe(before);
        if (cleaned === undefined) return;
        expect(schemaViolations(SCHEMA, cleaned)).toEqual([]);
        expect(withoutNulls(cleaned)).toEqual(withoutNulls(given));
      }),
    );
  });

  it('is not looked for without end', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`n${at}`, null]));
    expect(withoutAbsentNulls(SCHEMA, { name: 'a', ...many })).toBeUndefined();
  });
});

/** Without any null member, for comparison. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, withoutNulls(member)]])),
  );
}
