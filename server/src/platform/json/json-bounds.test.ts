import { describe, expect, test } from 'vitest';
import { findJsonProblem } from './json-bounds.js';

const nested = (depth: number): unknown => {
  let value: unknown = 'core';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { inner: value };
  return value;
};

describe('a JSON value', () => {
  test.each([null, 1, 'text', [], {}, { a: [{ b: 'c' }] }, nested(200)])(
    'that is ordinary has no problem',
    (value) => {
      expect(findJsonProblem(value)).toBeUndefined();
    },
  );

  test.each([201, 100_000])('nested %i levels deep is found without recursion', (depth) => {
    expect(findJsonProblem(nested(depth))).toMatchObject({ kind: 'depth' });
  });

  test.each([
    ['a\0b', ''],
    [{ name: 'ok', schema: { deep: ['a\0'] } }, 'schema'],
    [{ outer: { 'key\0': 1 } }, 'outer'],
  ])('with a null character is told with its field: %j', (value, field) => {
    expect(findJsonProblem(value)).toEqual({
      field,
      kind: 'null_character',
      message: 'holds a null character',
    });
  });
});
