import { expect, it } from 'vitest';
import { forecastWords } from './forecast.js';

const NOW = new Date('2026-01-11T12:00:00Z');
const words = (balance: number | undefined, spent: number, now = NOW) =>
  forecastWords(
    { listing_id: 'a-bbbbbb', ...(balance === undefined ? {} : { balance_lamports: balance }) },
    {
      since: '2026-01-05T00:00:00.000Z',
      agents: [
        {
          listing_id: 'a-cccccc',
          listing_title: '',
          completed: 1,
          failed: 0,
          undelivered: 0,
          spent_lamports: 9,
        },
        ...(spent === 0
          ? []
          : [
              {
                listing_id: 'a-bbbbbb',
                listing_title: '',
                completed: 1,
                failed: 0,
                undelivered: 0,
                spent_lamports: spent,
              },
            ]),
      ],
    },
    now,
  );

it('says how long a balance lasts at the spending of the week, and nothing without spending [SVC-31]', () => {
  // In six days and a half, 650 lamports: 100 a day.
  expect(words(1_200, 650)).toBe('Lasts about 12 days at the spending of the last 7 days.');
  expect(words(100, 650)).toBe('Lasts about 1 day at the spending of the last 7 days.');
  expect(words(99, 650)).toBe('Lasts less than a day at the spending of the last 7 days.');
  expect(words(100_000, 650)).toBe('Lasts more than a year at the spending of the last 7 days.');
  for (const none of [words(1_200, 0), words(0, 650), words(undefined, 650)]) expect(none).toBeUndefined();
  // A clock that is a year behind or ahead.
  expect(words(1_200, 600, new Date(0))).toContain('about 12 days');
  expect(words(1_200, 700, new Date('2027-01-11'))).toContain('about 12 days');
});
