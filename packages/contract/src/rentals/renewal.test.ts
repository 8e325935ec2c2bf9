import { expect, it } from 'vitest';
import { addsTooLittle, formatAdded, renewalOf, renewalRefusal } from './renewal.js';

const DAY = 86_400;
const DAYS_30 = 30 * DAY;
const NOW = Date.parse('2026-11-28T12:00:00Z') / 1000;
const renewal = (expiresAtSeconds: number | null) =>
  renewalOf({ nowSeconds: NOW, expiresAtSeconds, durationSeconds: DAYS_30 });

it('adds from the later of the present end and now [TXN-24]', () => {
  const whole = { new_expires_at: '2026-12-28T12:00:00.000Z', added_seconds: DAYS_30 };
  for (const ended of [null, NOW - DAY, NOW]) expect(renewal(ended)).toEqual(whole);
  expect(renewal(NOW + 29 * DAY)).toEqual({ ...whole, added_seconds: DAY });
});

it('adds too little below half of the window [TXN-24]', () => {
  expect(addsTooLittle(DAYS_30 / 2, DAYS_30)).toBe(false);
  expect(addsTooLittle(DAYS_30 / 2 - 1, DAYS_30)).toBe(true);
});

it('is said in days', () => {
  expect(formatAdded(29 * DAY + 1, DAYS_30)).toBe('29 of 30 days');
  expect(formatAdded(DAY - 1, DAYS_30)).toBe('less than 1 of 30 days');
});

it('is refused where it adds too little, with the day from which it adds enough [TXN-24]', () => {
  const early = renewal(NOW + 29 * DAY);
  expect(renewalRefusal(early, DAYS_30)).toEqual({
    reason:
      'This renewal would add 1 of 30 days: a window counts from now, and the rental ends on 2026-12-27.',
    next: 'Renew from 2026-12-13 on, or send `early: true` to pay anyway.',
  });
  expect(renewalRefusal(early, DAYS_30, true)).toBeUndefined();
  const onThatDay = Date.parse('2026-12-13T00:00:00Z') / 1000;
  const later = { nowSeconds: onThatDay, expiresAtSeconds: NOW + 29 * DAY, durationSeconds: DAYS_30 };
  expect(renewalRefusal(renewalOf(later), DAYS_30)).toBeUndefined();
});

it('is refused where it adds nothing, also with the explicit yes', () => {
  for (const end of [NOW + DAYS_30, NOW + 90 * DAY]) {
    expect(renewalRefusal(renewal(end), DAYS_30, true)?.reason).toContain('would add nothing');
  }
});
