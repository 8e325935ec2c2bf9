import { expect, test } from 'vitest';
import { FORM, sampleOf } from './form.js';

const ITEMS = Array.from({ length: 50 }, (_, index) => index);

test.skipIf(FORM === 'full')(
  'a sample has the asked number of items, in their order, and a seed repeats it',
  () => {
    const sample = sampleOf(ITEMS, 7, 3);
    expect(sample).toHaveLength(7);
    expect(sample).toEqual(sample.toSorted((one, other) => one - other));
    expect(sampleOf(ITEMS, 7, 3)).toEqual(sample);
    expect(sampleOf(ITEMS, 7, 4)).not.toEqual(sample);
  },
);

test('a sample of few items is all of them', () => {
  expect(sampleOf(ITEMS, 50)).toEqual(ITEMS);
});
