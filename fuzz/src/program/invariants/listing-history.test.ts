import { describe, expect, test } from 'vitest';
import { ListingHistory, type ListingFacts } from './listing-history.js';
import { addPause, NEVER_PAUSED, pausedSeconds } from '../model/pauses.js';
import { Random } from '@agent-rental/test/support/random';

const DAY = 86_400n;
const START = 1_750_000_000n;

const active = (price = 1_000n): ListingFacts => ({
  isPaused: false,
  isSuspended: false,
  pausedAt: 0n,
  price,
});
const paused = (pausedAt: bigint, price = 1_000n): ListingFacts => ({
  isPaused: true,
  isSuspended: false,
  pausedAt,
  price,
});

describe('the history of a listing', () => {
  test('finds a reclaim that is refused after enough pauses, and a reclaim that is allowed too early', () => {
    const history = new ListingHistory(active(), START);
    history.update(active(), paused(START), START);
    history.update(paused(START), active(), START + 4n * DAY);
    history.update(active(), paused(START + 5n * DAY), START + 5n * DAY);
    const now = paused(START + 5n * DAY);
    expect(history.judgeReclaim(true, now, START + 7n * DAY)).toMatch(/was allowed after 518400 seconds/);
    expect(history.judgeReclaim(false, now, START + 8n * DAY - 1n)).toBeNull();
    expect(history.judgeReclaim(true, now, START + 8n * DAY - 1n)).toBeNull();
    expect(history.judgeReclaim(false, now, START + 8n * DAY)).toMatch(/was refused after 604800 seconds/);
  });

  test('judges no reclaim after the clock went back, or after a change of a pause’s time from outside', () => {
    const back = new ListingHistory(active(), START);
    expect(back.judgeReclaim(true, active(), START - 1n)).toBeNull();
    expect(back.judgeReclaim(true, active(), START + DAY)).toBeNull();
    const aged = new ListingHistory(active(), START);
    aged.update(active(), paused(START), START);
    aged.update(paused(START + DAY), active(), START + 9n * DAY);
    expect(aged.judgeReclaim(false, active(), START + 9n * DAY)).toBeNull();
  });
});

test('the memory of pauses is at least the pauses of 30 days, and at most the pauses of 30.5 days and half a day [PRG-31]', () => {
  const random = new Random(7);
  let allowed = 0;
  for (let world = 0; world < 400; world += 1) {
    const history = new ListingHistory(active(), START);
    let [memory, now] = [NEVER_PAUSED, START + BigInt(random.below(100_000))];
    for (let step = 0; step < 40; step += 1) {
      const pausedAt = (now += random.anyLength() % (20n * DAY));
      history.update(active(), paused(pausedAt), now);
      now += random.anyLength() % (4n * DAY);
      const isAllowed = pausedSeconds(memory, pausedAt, now) >= 7n * DAY;
      expect(history.judgeReclaim(isAllowed, paused(pausedAt), now)).toBeNull();
      memory = addPause(memory, pausedAt, now);
      history.update(paused(pausedAt), active(), now);
      now += random.anyLength() % (20n * DAY);
      const isStill = pausedSeconds(memory, null, now) >= 7n * DAY;
      expect(history.judgeReclaim(isStill, active(), now)).toBeNull();
      allowed += isStill ? 1 : 0;
    }
  }
  expect(allowed).toBeGreaterThan(500);
});
