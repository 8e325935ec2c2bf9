/**
 * How an instruction ended: null for success, or an error in words: the name of the program's own or Anchor's code, with
 * ` of charge N` behind it where one of several charges is refused; `runtime Name`; or `system error N` of the System
 * program.
 */
export type Verdict = string | null;

/** The refusal with an error if a rule is broken. */
export function when(isBroken: boolean, error: string): Verdict {
  return isBroken ? error : null;
}

/** The verdict on an instruction whose charge at a place, counted from 1, is refused. The runtime's name no place. */
export function ofCharge(refusal: string, place: number): string {
  return refusal.startsWith('runtime ') || place === 0 ? refusal : `${refusal} of charge ${place}`;
}

/** A verdict in words, the same for all that are counted together: which later charge was refused is not. */
export function endingName(verdict: Verdict): string {
  return (verdict ?? 'success').replace(/ of charge (?!1$)\d+$/, ' of a later charge');
}

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
