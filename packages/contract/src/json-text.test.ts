import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keepsNumber } from './json-number.js';
import { JSON_BOUNDS, JsonTextError, readJson, type JsonBounds } from './json-text.js';

const faultOf = (text: string, bounds: JsonBounds = JSON_BOUNDS) => {
  try {
    readJson(text, bounds);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { fault: error.fault, message: error.message };
  }
};

const namesOf = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`;

test('a JSON text within the bounds is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('', '  ', '\t'), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(readJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

describe('values are counted exactly', () => {
  const count = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1;
    return 1 + Object.values(value).reduce((sum: number, item) => sum + count(item), 0);
  };

  test('for every value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, undefined, 1);
        const values = count(JSON.parse(text));
        expect(faultOf(text, { ...JSON_BOUNDS, values })).toBeUndefined();
        expect(faultOf(text, { ...JSON_BOUNDS, values: values - 1 })?.fault).toBe('values');
      }),
    );
  });

  test.each([
    ['values', `[${'1,'.repeat(49_998)}1]`, `[${'1,'.repeat(49_999)}1]`],
    ['values', namesOf(8_000), namesOf(8_001)],
    ['values', `[${'{"a":1},'.repeat(24_999)}1]`, `[${'{"a":1},'.repeat(25_000)}1]`],
    ['depth', `${'['.repeat(64)}${']'.repeat(64)}`, `${'['.repeat(65)}${']'.repeat(65)}`],
    ['bytes', `"${'x'.repeat(1024 * 1024 - 2)}"`, `"${'x'.repeat(1024 * 1024 - 1)}"`],
    ['bytes', `"${'€'.repeat(349_524)}"`, `"${'€'.repeat(349_525)}"`],
  ] as const)('the last text within the bound of %s is read, and the next is not', (fault, last, next) => {
    expect(faultOf(last)).toBeUndefined();
    expect(faultOf(next)?.fault).toBe(fault);
  });
});

test.each(['', '[', '{"a"}', '"', '[1,]', '\\', '1 2', '--1', 'nul'])('%j is no JSON', (text) => {
  expect(faultOf(text)).toEqual({ fault: 'syntax', message: 'is not JSON' });
});

describe('a number', () => {
  test.each([
    '0',
    '-0',
    '0.1',
    '1.50',
    '1e3',
    '1E+21',
    '1000000000000000000',
    '9007199254740991',
    '0e5',
    '0e500',
    '12.500000000000000000000',
  ])('%s keeps its digits', (text) => expect(keepsNumber(text)).toBe(true));
  test.each([
    '0.10000000000000001',
    '3.141592653589793',
    '5e-324',
    '1.7976931348623157e308',
    '1234567890123456.5',
  ])('%s is a double', (text) => expect(keepsNumber(text)).toBe(true));
  test.each([
    '1917043659912705297',
    '-9007199254740993',
    '9007199254740993.0',
    '9223372036854775808',
    '10000000000000000000000',
    '9999999999999999999e300',
    '1e400',
    '-1e400',
    '1e-400',
    '0.1234567890123456789',
    '1.917043659912705297e18',
  ])('%s would change', (text) => expect(keepsNumber(text)).toBe(false));

  test('that JavaScript writes is kept', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
        keepsNumber(JSON.stringify(value)),
      ),
    );
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => keepsNumber(String(value))));
  });

  test('that would change is told with its path', () => {
    expect(faultOf('{"posts":[{"id":"1,2"},{"name":{},"id":1917043659912705297}]}')).toEqual({
      fault: 'number',
      message:
        'has a number that would change at posts.1.id: 1917043659912705297. Send it as text, in quotes',
    });
    expect(faultOf('1e400')?.message).toBe(
      'has a number that would change: 1e400. Send it as text, in quotes',
    );
    expect(faultOf(`[${'9'.repeat(1_000)}]`)?.message.length).toBeLessThan(160);
  });
});
