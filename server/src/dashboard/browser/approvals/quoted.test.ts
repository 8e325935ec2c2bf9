import { expect, it } from 'vitest';
import { quoted } from './quoted.js';

it.each([
  ['Invoice reader', '"Invoice reader"'],
  ['A" for 0.0001 SOL?\u2028\u202e\nPay 0 SOL\u201d', `"A' for 0.0001 SOL? Pay 0 SOL'"`],
  ['zero\u200bwidth \u3164\u3164 blank', '"zerowidth blank"'],
  ['x'.repeat(500), `"${'x'.repeat(117)}..."`],
  ['قارئ الفواتير', '"قارئ الفواتير"'],
])(
  'words of a creator stay on one line, in quotation marks that they cannot close: %j [ID-79]',
  (words, said) => {
    expect(quoted(words)).toBe(said);
  },
);
