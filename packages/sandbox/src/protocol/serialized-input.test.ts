import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { serializeInput } from './serialized-input.js';

test('an input in slices is the same JSON as at once', async () => {
  const filler = fc.constantFrom('x', 'é', '€', '😀', '"', '\u0001', '\ud83d', '\ude00');
  await fc.assert(
    fc.asyncProperty(filler, fc.integer({ min: 0, max: 140_000 }), fc.string(), async (unit, length, end) => {
      const text = unit.repeat(length / unit.length) + end;
      for (const input of [text, { text }]) {
        const { pieces } = await serializeInput(input);
        expect(Buffer.concat(pieces).toString('utf8') === JSON.stringify(input)).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

test('eight megabytes of text leave time for timers', async () => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  await serializeInput('"\n'.repeat(4 * 1024 * 1024));
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(3);
});
