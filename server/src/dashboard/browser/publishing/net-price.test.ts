import { expect, it } from 'vitest';
import { netWords } from './net-price.js';

it.each([
  ['0.00025', 250, 'You get 0.00024375 SOL of 0.00025 SOL; the protocol keeps 2.5%.'],
  // The program rounds the fee down.
  ['0.000000039', 250, 'You get 0.000000039 SOL of 0.000000039 SOL; the protocol keeps 2.5%.'],
  ['0.00025', Number.NaN, ''],
  ['cheap', 250, ''],
  ['', 250, ''],
])('tells the creator’s part of the typed price %j, at a fee of %d', (typed, feeBps, words) => {
  expect(netWords(typed, feeBps)).toBe(words);
});
