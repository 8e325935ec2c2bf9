/**
 * The result of an instruction: null for success, or an error as text:
 * - the name of the program's or Anchor's error, with the suffix ` of charge N` for one of several charges;
 * - `runtime Name`;
 * - `system error N` of the System program.
 */
export type Verdict = string | null;

/** The error if a rule is broken, else null. */
export function when(isBroken: boolean, error: string): Verdict {
  return isBroken ? error : null;
}

/** The verdict on an instruction with a refused charge at a place, counted from 1. The runtime's errors have no place. */
export function ofCharge(refusal: string, place: number): string {
  return refusal.startsWith('runtime ') || place === 0 ? refusal : `${refusal} of charge ${place}`;
}

/** The name under which a verdict is counted. It does not distinguish later charges. */
export function endingName(verdict: Verdict): string {
  return (verdict ?? 'success').replace(/ of charge (?!1$)\d+$/, ' of a later charge');
}

/** Ways of an instruction's success that are counted separately. */
export const WAYS = [
  'at the previous price',
  'charges no run',
  'charges one balance several times',
  'charges several balances',
  'reclaims above the agreed price',
  'reclaims from a paused listing',
  'reclaims from an active listing after pauses',
  'reclaims from a closed listing',
  'reclaims from a suspended listing',
] as const;

/** One of these ways. */
export type Way = (typeof WAYS)[number];
