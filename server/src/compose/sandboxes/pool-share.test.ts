import { expect, it, vi } from 'vitest';
import { concurrentRunsPerListing, poolShare } from './pool-share.js';

const sizes = { poolSize: 4, maxActive: 40 };

it('leaves a listing its twenty runs where there are sandboxes for them, without a word', () => {
  const warn = vi.fn();
  expect(concurrentRunsPerListing(poolShare({}, sizes, 2), { warn })).toBe(20);
  expect(concurrentRunsPerListing(poolShare({}, { ...sizes, maxActive: 26 }, 2), { warn })).toBe(20);
  expect(warn).not.toHaveBeenCalled();
});

it.each([
  ['SANDBOX_MAX_ACTIVE', {}, { ...sizes, maxActive: 8 }, 6],
  ['SANDBOX_MAX_ACTIVE', {}, { ...sizes, maxActive: 1 }, 1],
  ['E2B_MAX_SANDBOXES', { capacity: { maxSandboxes: 20, maxIdleMs: 1 } }, sizes, 8],
] as const)('gives a listing no more runs than sandboxes, and names %s', (setting, driver, given, runs) => {
  const warn = vi.fn();
  expect(concurrentRunsPerListing(poolShare(driver, given, 2), { warn })).toBe(runs);
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { runs_per_listing: runs, max_active: expect.any(Number), setting },
    expect.stringContaining(setting),
  );
});
