import { expect, it } from 'vitest';
import { createBeginnings } from './start-latency.js';

it('a run is beginning from its request until its agent has said something, or it is over', () => {
  const seconds: number[] = [];
  const beginnings = createBeginnings((each) => seconds.push(each));
  const receivedAt = performance.now() - 1_000;
  const [one, other] = [beginnings.enter(receivedAt), beginnings.enter(receivedAt)];
  expect(beginnings.pending).toBe(2);
  one.began();
  one.began();
  one.over();
  expect(beginnings.pending).toBe(1);
  // Refused, for instance: no start to be counted.
  other.over();
  other.began();
  expect(beginnings.pending).toBe(0);
  expect(seconds).toHaveLength(1);
  expect(seconds[0]).toBeGreaterThanOrEqual(1);
});

it('what gives way to runs that begin is told when the last of them has begun, or when its own time is over', async () => {
  const beginnings = createBeginnings();
  await beginnings.allBegun(60_000);
  const [one, other] = [beginnings.enter(0), beginnings.enter(0)];
  const told: string[] = [];
  const first = beginnings.allBegun(60_000).then(() => told.push('all'));
  one.began();
  await beginnings.allBegun(1).then(() => told.push('in time'));
  expect(told).toEqual(['in time']);
  other.over();
  await first;
  expect(told).toEqual(['in time', 'all']);
});
