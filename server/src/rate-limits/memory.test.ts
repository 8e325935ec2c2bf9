import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { memoryRateLimits } from './memory.js';

const START = new Date('2026-01-01T00:00:00.500Z');

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

it('lets exactly as many through as the limit says [LIM-5]', async () => {
  const limits = memoryRateLimits();
  const states = await Promise.all(Array.from({ length: 130 }, () => limits.count('wallet:a', 100)));
  expect(states.filter((state) => !state.exceeded)).toHaveLength(100);
  expect(states.map((state) => state.remaining)).toEqual(
    Array.from({ length: 130 }, (_, index) => Math.max(0, 99 - index)),
  );
});

it('says when the window ends, for the whole window, and begins anew then [LIM-5]', async () => {
  const limits = memoryRateLimits();
  const first = await limits.count('wallet:a', 1);
  expect(first).toEqual({
    limit: 1,
    remaining: 0,
    resetAt: Math.ceil(START.getTime() / 1000 + 60),
    exceeded: false,
  });
  vi.advanceTimersByTime(59_000);
  expect(await limits.count('wallet:a', 1)).toEqual({ ...first, exceeded: true });
  vi.advanceTimersByTime(1_001);
  expect(await limits.count('wallet:a', 1)).toMatchObject({ exceeded: false, remaining: 0 });
});

it('counts each key by itself, and compares with the limit of the moment', async () => {
  const limits = memoryRateLimits();
  await limits.count('wallet:a', 2);
  expect(await limits.count('wallet:b', 2)).toMatchObject({ remaining: 1 });
  expect(await limits.count('wallet:a', 10)).toMatchObject({ remaining: 8, exceeded: false });
  expect(await limits.count('wallet:a', 2)).toMatchObject({ remaining: 0, exceeded: true });
});
