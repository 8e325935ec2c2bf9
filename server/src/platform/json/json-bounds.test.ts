import { describe, expect, test } from 'vitest';
import { findJsonProblem } from './json-bounds.js';

const nested = (depth: number): unknown => {
  let value: unknown = 'core';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { inner: value };
  return value;
};

describe('a JSON value', () => {
  test.each([null, 1, 'text', '\u{1f600}', [], {}, { a: [{ b: 'c' }] }, nested(200)])(
    'that is ordinary has no problem',
    (value) => {
      expect(findJsonProblem(value)).toBeUndefined();
    },
  );

  test.each([201, 100_000])('nested %i levels deep is found without recursion', (depth) => {
    expect(findJsonProblem(nested(depth))).toMatchObject({ kind: 'depth' });
  });

  test.each([
    ['a\0b', '', 'a null character'],
    [{ name: 'ok', schema: { deep: ['a\0'] } }, 'schema', 'a null character'],
    [{ outer: { 'key\0': 1 } }, 'outer', 'a null character'],
    ['a\ud800b', '', 'half of a surrogate pair'],
    [{ name: 'ok', schema: { deep: ['\udfff'] } }, 'schema', 'half of a surrogate pair'],
    [{ outer: { '\udc00\ud800': 1 } }, 'outer', 'half of a surrogate pair'],
  ])('with text that no database holds is told with its field: %j', (value, field, held) => {
    expect(findJsonProblem(value)).toEqual({ field, kind: 'text', message: `holds ${held}` });
  });
});
