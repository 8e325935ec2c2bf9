import { isList, type Args } from './arguments.js';

/** One charge of a run. */
export interface Charge {
  sequence: bigint;
  runId: Uint8Array;
  /** Lamports. */
  price: bigint;
}

/** The charge that arguments describe. */
export function chargeOf(args: Args): Charge {
  const { sequence, run_id: runId, price_lamports: price } = args;
  if (typeof sequence !== 'bigint' || !(runId instanceof Uint8Array) || typeof price !== 'bigint') {
    throw new TypeError('These are not the arguments of a charge.');
  }
  return { sequence, runId, price };
}

/** The charges that the arguments of `consume_queries` list; none of others. */
export function chargesIn(args: Args | null): Charge[] {
  const charges = args?.['charges'];
  return isList(charges) ? charges.map(chargeOf) : [];
}
