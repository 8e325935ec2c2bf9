import { expect, it } from 'vitest';
import { readToolSelection, ToolSelectionError } from './tool-selection.js';

it.each([
  [undefined, undefined],
  ['  ', undefined],
  ['all', 'all'],
  ['none', 'none'],
  ['echo-aaaaaa', ['echo-aaaaaa']],
  [' echo-aaaaaa , tax-bbbbbb,echo-aaaaaa,', ['echo-aaaaaa', 'tax-bbbbbb']],
])('%j chooses %j', (text, selection) => {
  expect(readToolSelection(text)).toEqual(selection);
});

it.each(['Echo', 'a b', ',', '../x', Array.from({ length: 51 }, (_, index) => `a-${index}`).join(',')])(
  '%s chooses nothing, and the error names the right form',
  (text) => {
    expect(() => readToolSelection(text)).toThrow(ToolSelectionError);
  },
);
