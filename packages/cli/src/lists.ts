import { UsageError } from './errors.js';

const MAX_LIMIT = 100;

/** The value of `--limit`. @throws UsageError */
export function limitOf({ limit: text }: { limit?: string }): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new UsageError(`--limit is a number from 1 to ${MAX_LIMIT}.`);
}

/** The line below a list that has more items; none below a whole list. */
export const latestShown = (shown: number, total: number): string[] =>
  total > shown ? [`The latest ${shown} are shown.`] : [];

/** A timestamp to the second. */
export const secondOf = (at: string): string => at.slice(0, 19).replace('T', ' ');

/** A timestamp's day. */
export const dayOf = (at: string): string => at.slice(0, 10);
