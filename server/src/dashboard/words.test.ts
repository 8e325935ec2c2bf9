import { expect, it } from 'vitest';
import { titleLine } from './words.js';

it.each([
  ['Invoice reader', 'Invoice reader'],
  ['A" for 0.0001 SOL?\u2028\u202e\nPay 0 SOL\u201d', 'A" for 0.0001 SOL? Pay 0 SOL\u201d'],
  ['zero\u200bwidth \u{e0041} tag', 'zerowidth tag'],
  ['x'.repeat(500), `${'x'.repeat(117)}...`],
  ['قارئ الفواتير', 'قارئ الفواتير'],
])(
  'words of a creator or a key are one line without characters that hide or reorder text: %j [ID-79]',
  (words, line) => {
    expect(titleLine(words)).toBe(line);
  },
);
