import { describe, expect, it } from 'vitest';
import { measureJson } from './json-size.js';

const ALL = { values: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };
const measure = (text: string, most = ALL) => measureJson(Buffer.from(text), most);

describe('a JSON text', () => {
  it.each([
    ['"a"', 1, 0],
    ['[]', 2, 1],
    ['[1,2,3]', 4, 1],
    ['{"a":{"b":[1]}}', 6, 3],
    ['"[[[,,,{{{"', 1, 0],
    [String.raw`"\"[[,"`, 1, 0],
    [String.raw`["\\",[]]`, 4, 2],
    ['"never ends [[[', 1, 0],
    [']]]]', 1, 0],
  ])('%s has values and levels', (text, values, depth) => {
    expect(measure(text)).toEqual({ values, depth });
  });

  it('is looked at only as far as it is within the bounds', () => {
    const huge = `[${'[],'.repeat(1_000_000)}[]]`;
    expect(measure(huge, { values: 100, depth: 10 }).values).toBe(101);
    expect(measure('['.repeat(1_000_000), { values: 1e9, depth: 10 }).depth).toBe(11);
  });
});
