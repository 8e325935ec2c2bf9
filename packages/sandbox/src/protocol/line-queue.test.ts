import { expect, test, vi } from 'vitest';
import { LineQueue, type LineQueueOptions } from './line-queue.js';

function queueOf(changes: Partial<LineQueueOptions> = {}): LineQueue {
  return new LineQueue({
    maxLineBytes: 1024 * 1024,
    highWaterBytes: 100,
    onDrain: () => {},
    onTooLong: () => {},
    ...changes,
  });
}

async function readAll(queue: LineQueue): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of queue) lines.push(line);
  return lines;
}

test('delivers lines pushed before and after the reader came, then ends', async () => {
  const queue = queueOf();
  queue.push(Buffer.from('a\n'));
  const reading = readAll(queue);
  await Promise.resolve();
  queue.push(Buffer.from('b\nc'));
  queue.push(Buffer.from('c\nhalf of a line is none'));
  queue.end({ discard: false });
  queue.push(Buffer.from('too late\n'));
  expect(await reading).toEqual(['a', 'b', 'cc']);
});

test('tells the writer to pause, and once to continue', async () => {
  const onDrain = vi.fn();
  const queue = queueOf({ onDrain });
  queue.push(Buffer.from(`${'a'.repeat(60)}\n`));
  expect(queue.isFull).toBe(false);
  queue.push(Buffer.from(`${'b'.repeat(60)}\n`));
  expect(queue.isFull).toBe(true);
  await queue.next();
  expect(queue.isFull).toBe(false);
  await queue.next();
  expect(onDrain).toHaveBeenCalledTimes(1);
});

test('lets the writer continue a line that is longer than the queue', async () => {
  const onDrain = vi.fn();
  const queue = queueOf({ onDrain });
  queue.push(Buffer.from('a'.repeat(200)));
  expect(queue.isFull).toBe(true);
  const next = queue.next();
  expect(queue.isFull).toBe(false);
  expect(onDrain).toHaveBeenCalledTimes(1);
  queue.push(Buffer.from('b\n'));
  expect(await next).toEqual({ value: `${'a'.repeat(200)}b`, done: false });
});

test('drops unread lines when told to', async () => {
  const queue = queueOf();
  queue.push(Buffer.from('a\n'));
  queue.end({ discard: true });
  expect(await readAll(queue)).toEqual([]);
});

test('ends a reader that waits', async () => {
  const queue = queueOf();
  const next = queue.next();
  queue.end({ discard: true });
  expect(await next).toEqual({ value: undefined, done: true });
});

test('ends with the line that is too long, and says so', async () => {
  const onTooLong = vi.fn();
  const queue = queueOf({ maxLineBytes: 4, onTooLong });
  queue.push(Buffer.from('abcd\nabcde\nf\n'));
  expect(await readAll(queue)).toEqual(['abcd']);
  expect(onTooLong).toHaveBeenCalledTimes(1);
});

test('lets timers and other queues have their turns while one has lines without end', async () => {
  // Eight times as many lines as a sandbox may write.
  const lines = 512 * 1024;
  const flooded = queueOf();
  flooded.push(Buffer.alloc(lines, '\n'));
  flooded.end({ discard: false });
  const flood = readAll(flooded);
  const other = queueOf();
  const timers: number[] = [];
  const timer = setInterval(() => timers.push(performance.now()), 1);
  other.push(Buffer.from('one\n'));
  expect(await other.next()).toEqual({ value: 'one', done: false });
  const beforeEnd = await Promise.race([flood.then(() => 'after'), Promise.resolve('before')]);
  expect(beforeEnd).toBe('before');
  expect(await flood).toHaveLength(lines);
  clearInterval(timer);
  expect(timers.length).toBeGreaterThan(10);
});

test('serves the first lines of twenty sandboxes at once, although their work takes time', async () => {
  let iterations = 0;
  let counting = true;
  const count = (): void => {
    iterations += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const queues = Array.from({ length: 20 }, () => queueOf());
  const reads = queues.map(async (queue) => {
    await queue.next();
    // As a run does before it asks its model.
    const until = performance.now() + 1;
    while (performance.now() < until);
    await queue.next();
  });
  for (const queue of queues) queue.push(Buffer.from('first\nsecond\n'));
  await Promise.all(reads);
  counting = false;
  expect(iterations).toBeLessThanOrEqual(2);
});
