/** Ways in which an instruction succeeds that are counted apart. */
export const WAYS = [
  'at the previous price',
  'charges no run',
  'charges one balance several times',
  'charges several balances',
  'reclaims above the agreed price',
  'reclaims from a paused listing',
  'reclaims from an active listing after pauses',
  'reclaims from a closed listing',
] as const;

/** One of them. */
export type Way = (typeof WAYS)[number];
