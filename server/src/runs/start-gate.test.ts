import { expect, it } from 'vitest';
import { createStartGate } from './start-gate.js';

it('a run is starting from its request until its agent has said something, or it has ended', () => {
  const seconds: number[] = [];
  const startGate = createStartGate((each) => seconds.push(each));
  const receivedAt = performance.now() - 1_000;
  const [one, other] = [startGate.enter(receivedAt), startGate.enter(receivedAt)];
  expect(startGate.pending).toBe(2);
  one.began();
  one.began();
  one.over();
  expect(startGate.pending).toBe(1);
  // Refused, for instance: no start to be counted.
  other.over();
  other.began();
  expect(startGate.pending).toBe(0);
  expect(seconds).toHaveLength(1);
  expect(seconds[0]).toBeGreaterThanOrEqual(1);
});

it('work that gives way is told when the last starting run has started, or when its own time has passed', async () => {
  const startGate = createStartGate();
  await startGate.idle(60_000);
  const [one, other] = [startGate.enter(0), startGate.enter(0)];
  const told: string[] = [];
  const first = startGate.idle(60_000).then(() => told.push('all'));
  one.began();
  await startGate.idle(1).then(() => told.push('in time'));
  expect(told).toEqual(['in time']);
  other.over();
  await first;
  expect(told).toEqual(['in time', 'all']);
});
