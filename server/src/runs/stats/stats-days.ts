const DAY_MS = 86_400_000;

/** Days of a window before the present one. */
export const DAYS_BEFORE = { '7d': 6, '30d': 29 } as const;

/** The days of a window, in order. Those in UTC all have one length. */
export const daysOf = (since: Date, window: keyof typeof DAYS_BEFORE): Date[] =>
  Array.from({ length: DAYS_BEFORE[window] + 1 }, (_, index) => new Date(since.getTime() + index * DAY_MS));
