import { expect, it } from 'vitest';
import { createGiveUps, waitBefore } from './give-ups.js';

const MINUTE_MS = 60_000;
const PATIENCE_MS = 45_000;

it.each([
  ['nothing is known', [], PATIENCE_MS],
  ['one call was given up at 5 s, a moment ago', [[5_100, 1]], 4_300],
  ['one call was given up at 5 s, an hour ago', [[5_100, 60]], PATIENCE_MS],
  ['a person cancelled one call', [[7_700, 1]], PATIENCE_MS],
  [
    'two calls were given up at the same time',
    [
      [7_700, 1],
      [7_900, 600],
    ],
    6_900,
  ],
  [
    'two calls were given up at different times',
    [
      [7_700, 1],
      [9_600, 2],
    ],
    PATIENCE_MS,
  ],
  ['the client waits longer than a call does', [[60_100, 1]], PATIENCE_MS],
  ['the client waits for 2 s alone', [[2_010, 1]], 1_210],
])('where %s, a call waits so long [ADP-19]', (_name, times, expected) => {
  const giveUps = times.map(([elapsedMs = 0, minutes = 0]) => ({ elapsedMs, agoMs: minutes * MINUTE_MS }));
  expect(waitBefore(giveUps, PATIENCE_MS)).toBe(expected);
});

it('a process remembers the last eight', async () => {
  let now = 0;
  const giveUps = createGiveUps(() => now);
  for (let count = 1; count <= 10; count += 1) {
    now = count;
    await giveUps.record(count * 1_000);
  }
  const recent = await giveUps.recent();
  expect(recent).toHaveLength(8);
  expect(recent[0]).toEqual({ elapsedMs: 10_000, agoMs: 0 });
  expect(recent[7]).toEqual({ elapsedMs: 3_000, agoMs: 7 });
});
