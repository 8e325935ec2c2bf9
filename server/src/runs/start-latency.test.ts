import { expect, it } from 'vitest';
import { createStartLatency } from './start-latency.js';

it('a run is beginning from its request until its agent has said something, or it is over', () => {
  const seconds: number[] = [];
  const startLatency = createStartLatency((each) => seconds.push(each));
  const receivedAt = performance.now() - 1_000;
  const [one, other] = [startLatency.enter(receivedAt), startLatency.enter(receivedAt)];
  expect(startLatency.pending).toBe(2);
  one.began();
  one.began();
  one.over();
  expect(startLatency.pending).toBe(1);
  // Refused, for instance: no start to be counted.
  other.over();
  other.began();
  expect(startLatency.pending).toBe(0);
  expect(seconds).toHaveLength(1);
  expect(seconds[0]).toBeGreaterThanOrEqual(1);
});

it('what gives way to runs that begin is told when the last of them has begun, or when its own time is over', async () => {
  const startLatency = createStartLatency();
  await startLatency.allBegun(60_000);
  const [one, other] = [startLatency.enter(0), startLatency.enter(0)];
  const told: string[] = [];
  const first = startLatency.allBegun(60_000).then(() => told.push('all'));
  one.began();
  await startLatency.allBegun(1).then(() => told.push('in time'));
  expect(told).toEqual(['in time']);
  other.over();
  await first;
  expect(told).toEqual(['in time', 'all']);
});
