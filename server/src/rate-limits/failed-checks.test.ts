import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { clientAddress } from './client-address.js';
import { createFailedChecks } from './failed-checks.js';
import { memoryRateLimits } from './memory.js';

const LIMIT = 20;
const ADDRESS = '203.0.113.1';
let lookUps: string[];
let atOnce: number;
let mostAtOnce: number;
let right: Set<string>;
let checks: ReturnType<typeof createFailedChecks>;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z'), toFake: ['Date', 'setTimeout', 'setInterval'] });
  lookUps = [];
  [atOnce, mostAtOnce] = [0, 0];
  right = new Set();
  checks = createFailedChecks(memoryRateLimits(), LIMIT);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Represents the look-up in the database. */
async function lookUp(bearer: string): Promise<string> {
  lookUps.push(bearer);
  mostAtOnce = Math.max(mostAtOnce, ++atOnce);
  await new Promise((resolve) => setImmediate(resolve));
  atOnce -= 1;
  if (!right.has(bearer)) throw new ApiError('invalid_api_key', 'No.');
  return bearer;
}

const outcome = async (bearer: string, address = ADDRESS) =>
  (await checks.check(address, bearer, () => lookUp(bearer))).outcome;
const flood = (count: number, address = ADDRESS) =>
  Promise.all(Array.from({ length: count }, (_, index) => outcome(`wrong ${index}`, address)));

describe('wrong bearers of one address', () => {
  it('cost exactly as many look-ups as the limit says, when they come at once and later [LIM-9]', async () => {
    const outcomes = await flood(500);
    expect(outcomes.filter((one) => one === 'wrong')).toHaveLength(LIMIT);
    expect(outcomes.filter((one) => one === 'refused')).toHaveLength(500 - LIMIT);
    expect(await outcome('another')).toBe('refused');
    expect(lookUps).toHaveLength(LIMIT);
    expect(mostAtOnce).toBeLessThanOrEqual(10);
  });

  it('are looked up again in the next minute [LIM-9]', async () => {
    await flood(100);
    vi.advanceTimersByTime(61_000);
    await flood(100);
    expect(lookUps).toHaveLength(2 * LIMIT);
  });

  it('take nothing from other addresses, and count for a network of IPv6 together [LIM-9]', async () => {
    await flood(100);
    expect(await outcome('wrong', '203.0.113.2')).toBe('wrong');
    for (let host = 0; host < 2 * LIMIT; host += 1) await outcome('wrong', `2001:db8:1:2::${host}`);
    expect(lookUps).toHaveLength(2 * LIMIT + 1);
  });
});

describe('a right bearer', () => {
  it('is checked every time, also where others of its address fail [LIM-9]', async () => {
    right.add('mine');
    expect(await outcome('mine')).toBe('right');
    await flood(100);
    lookUps = [];
    expect(await Promise.all([1, 2, 3].map(() => outcome('mine')))).toEqual(['right', 'right', 'right']);
    expect(lookUps).toEqual(['mine', 'mine', 'mine']);
  });

  it('may begin with very many requests at once [LIM-9]', async () => {
    right.add('mine');
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcome('mine')));
    expect(new Set(outcomes)).toEqual(new Set(['right']));
  });

  it('that is revoked is refused on the next request, and counts from then on', async () => {
    right.add('mine');
    await outcome('mine');
    right.delete('mine');
    for (let time = 0; time < 2 * LIMIT; time += 1) expect(await outcome('mine')).not.toBe('right');
    expect(lookUps).toHaveLength(1 + LIMIT);
  });
});

it('does not count a check that could not be made', async () => {
  const outage = () => Promise.reject(new Error('The database does not answer.'));
  for (let time = 0; time < 2 * LIMIT; time += 1) {
    await expect(checks.check(ADDRESS, 'mine', outage)).rejects.toThrow('does not answer');
  }
  right.add('mine');
  expect(await outcome('mine')).toBe('right');
});

it.each([
  ['203.0.113.1', '203.0.113.1'],
  ['::ffff:203.0.113.1', '203.0.113.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['unknown', 'unknown'],
])('counts %s under %s', (address, under) => {
  expect(clientAddress(address)).toBe(under);
});
