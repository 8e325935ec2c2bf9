import { expect, test, vi } from 'vitest';
import { LineQueue } from './line-queue.js';

async function readAll(queue: LineQueue): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of queue) lines.push(line);
  return lines;
}

test('delivers lines pushed before and after the reader came, then ends', async () => {
  const queue = new LineQueue(100, () => {});
  queue.push('a');
  const reading = readAll(queue);
  await Promise.resolve();
  queue.push('b');
  queue.push('c');
  queue.end({ discard: false });
  queue.push('too late');
  expect(await reading).toEqual(['a', 'b', 'c']);
});

test('tells the writer to pause, and once to go on', async () => {
  const onDrain = vi.fn();
  const queue = new LineQueue(100, onDrain);
  queue.push('abc');
  expect(queue.isFull).toBe(false);
  queue.push('def');
  expect(queue.isFull).toBe(true);
  await queue.next();
  expect(queue.isFull).toBe(false);
  await queue.next();
  expect(onDrain).toHaveBeenCalledTimes(1);
});

test('drops what was not read when told to', async () => {
  const queue = new LineQueue(100, () => {});
  queue.push('a');
  queue.end({ discard: true });
  expect(await readAll(queue)).toEqual([]);
});

test('ends a reader that waits', async () => {
  const queue = new LineQueue(100, () => {});
  const next = queue.next();
  queue.end({ discard: true });
  expect(await next).toEqual({ value: undefined, done: true });
});

test('is filled by empty lines too', () => {
  const queue = new LineQueue(1_000, () => {});
  for (let line = 0; line < 20; line += 1) queue.push('');
  expect(queue.isFull).toBe(true);
});
