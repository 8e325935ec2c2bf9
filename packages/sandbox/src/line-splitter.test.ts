import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.js';

test('gives the same lines however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ' '))),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const splitter = new LineSplitter(1_000_000);
        const seen: string[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          seen.push(...(splitter.push(bytes.subarray(at, at + size)) ?? ['too long']));
          at += size;
        }
        expect(seen).toEqual(lines);
      },
    ),
  );
});

test('takes a line of exactly the bound and refuses one byte more, ended or not', () => {
  expect(new LineSplitter(4).push(Buffer.from('abcd\n'))).toEqual(['abcd']);
  expect(new LineSplitter(4).push(Buffer.from('abcde\n'))).toBeUndefined();
  const splitter = new LineSplitter(4);
  expect(splitter.push(Buffer.from('abc'))).toEqual([]);
  expect(splitter.push(Buffer.from('de'))).toBeUndefined();
});

test('counts each line anew', () => {
  const splitter = new LineSplitter(4);
  expect(splitter.push(Buffer.from('abcd\nef'))).toEqual(['abcd']);
  expect(splitter.push(Buffer.from('gh\n'))).toEqual(['efgh']);
});
