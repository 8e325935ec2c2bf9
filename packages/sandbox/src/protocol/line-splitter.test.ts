import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldBytes } from './held-bytes.test-support.js';
import { LineSplitter } from './line-splitter.js';

/** Takes every whole line there is. */
function takeAll(splitter: LineSplitter): string[] {
  const lines: string[] = [];
  for (let length = splitter.nextLength(); length !== undefined; length = splitter.nextLength()) {
    if (length === 'too_long') return [...lines, 'too_long'];
    const line = splitter.take();
    expect(Buffer.byteLength(line)).toBe(length);
    lines.push(line);
  }
  return lines;
}

test('gives the same lines for every split of the bytes and every time of reading', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ' '))),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      fc.array(fc.boolean(), { minLength: 1 }),
      (lines, cuts, takes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const splitter = new LineSplitter(1_000_000);
        const seen: string[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          splitter.push(bytes.subarray(at, at + size));
          if (takes[turn % takes.length] === true) seen.push(...takeAll(splitter));
          at += size;
        }
        seen.push(...takeAll(splitter));
        expect(seen).toEqual(lines);
        expect(splitter.heldBytes).toBe(0);
      },
    ),
  );
});

test('takes a line of exactly the bound and refuses one byte more, ended or not', () => {
  const linesOf = (...chunks: string[]): string[] => {
    const splitter = new LineSplitter(4);
    for (const chunk of chunks) splitter.push(Buffer.from(chunk));
    return takeAll(splitter);
  };
  expect(linesOf('abcd\n')).toEqual(['abcd']);
  expect(linesOf('abcde\n')).toEqual(['too_long']);
  expect(linesOf('abc', 'de')).toEqual(['too_long']);
  expect(linesOf('abcd\nef', 'gh\n')).toEqual(['abcd', 'efgh']);
});

test('a line that comes byte by byte takes no more memory than its bytes', () => {
  const splitter = new LineSplitter(1024 * 1024);
  const before = heldBytes();
  for (let bytes = 0; bytes < 300_000; bytes += 1) splitter.push(Buffer.allocUnsafeSlow(1).fill('x'));
  const after = heldBytes();
  expect(splitter.heldBytes).toBe(300_000);
  expect(after - before).toBeLessThan(4 * 1024 * 1024);
});

test('moves each byte a few times at most, for every mix of long and short lines', () => {
  const splitter = new LineSplitter(8 * 1024 * 1024);
  let copied = 0;
  const copy = Buffer.prototype.copy;
  Buffer.prototype.copy = function counted(this: Buffer, ...args: Parameters<typeof copy>): number {
    const bytes = copy.apply(this, args);
    copied += bytes;
    return bytes;
  };
  try {
    const total = 2 * 1024 * 1024;
    for (let at = 0; at < total; at += 16) splitter.push(Buffer.alloc(16, 'x'));
    expect(copied).toBeLessThan(6 * total);
    // Almost full, and each new short line has one read.
    copied = 0;
    for (let lines = 0; lines < 10_000; lines += 1) splitter.push(Buffer.from('short\n'));
    expect(splitter.nextLength()).toBe(total + 5);
    splitter.take();
    for (let lines = 0; lines < 10_000; lines += 1) {
      splitter.push(Buffer.from('short\n'));
      expect(splitter.nextLength()).toBe(5);
      splitter.take();
    }
    expect(copied).toBeLessThan(6 * 20_000 * 6 + 6 * total);
  } finally {
    Buffer.prototype.copy = copy;
  }
});
