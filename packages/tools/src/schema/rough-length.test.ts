import { describe, expect, it } from 'vitest';
import { roughLength } from './rough-length.js';

describe('a rough length', () => {
  it.each([
    [{}],
    [[]],
    [''],
    [null],
    [true],
    [-1.234_567_890_123_456e-300],
    [{ a: {} }],
    ['"'.repeat(100)],
    ['\\'.repeat(100)],
    [{ '': [[], [null, false], 'x'] }],
    [Array.from({ length: 50 }, (_, place) => place)],
    [{ type: 'object', properties: { a: { type: 'string', enum: ['b', '"c"'] } }, required: ['a'] }],
  ])('is between half the length as JSON and twelve times that (%#)', (value) => {
    const { length } = JSON.stringify(value);
    const rough = roughLength(value, Number.POSITIVE_INFINITY);
    expect(2 * rough).toBeGreaterThanOrEqual(length);
    expect(rough).toBeLessThan(12 * length);
  });

  it('stops at the given length', () => {
    let read = 0;
    const value = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`key${index}`, 'x'.repeat(100)]),
    );
    const counted = new Proxy(value, { get: (target, key: string) => ((read += 1), target[key]) });
    expect(roughLength(counted, 1_000)).toBeGreaterThan(1_000);
    expect(read).toBeLessThan(12);
  });
});
