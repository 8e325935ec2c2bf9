import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';

/** The same value with the keys of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  // `fromEntries` defines; an assignment to `__proto__` would be lost.
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reordered(item)]),
  );
}

it('is the same text whatever order the keys were written in', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reordered(value))).toBe(canonicalJson(value));
    }),
    { seed: 1, numRuns: 300 },
  );
});

it('is JSON of the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { seed: 2, numRuns: 300 },
  );
});

it('tells different values apart', () => {
  expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
  expect(canonicalJson({ a: '1' })).not.toBe(canonicalJson({ a: 1 }));
  expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}));
});

it('leaves out what JSON cannot say, as JSON.stringify does', () => {
  expect(canonicalJson({ a: undefined, b: [undefined, Number.NaN] })).toBe('{"b":[null,null]}');
});
