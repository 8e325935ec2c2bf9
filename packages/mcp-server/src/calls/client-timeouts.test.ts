import { expect, it } from 'vitest';
import { isClientTimeout } from './client-timeouts.js';

it.each([
  [5_003, true],
  [30_180, true],
  [59_990, true],
  [1_995, true],
  [1_010, false],
  [400, false],
  [5_400, false],
  [7_900, false],
])('a call that is cancelled after %i ms was ended by a timeout: %s', (elapsedMs, expected) => {
  expect(isClientTimeout(elapsedMs)).toBe(expected);
});
