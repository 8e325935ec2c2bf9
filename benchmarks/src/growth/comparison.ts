import { median, percentile, type Sheet } from '../report.js';
import { byTurns } from '../harness/turns.js';

/** A measurement at the small and at the large size. */
export interface Compared {
  readonly what: string;
  small(): Promise<unknown>;
  large(): Promise<unknown>;
}

const WARM_UPS = 3;

/** Measures both sizes in turns. Adds a row and a target for the ratio. */
export async function compareByTurns(
  { what, small, large }: Compared,
  { rounds, times, most }: { rounds: number; times: number; most: number },
  sheet: Sheet,
): Promise<void> {
  const { ours, baseline } = await byTurns({ run: large }, { run: small }, { rounds, warmUps: WARM_UPS });
  addRatio(sheet, what, { small: baseline.ms, large: ours.ms, times, most });
}

/** Adds a row of two medians, and a target for their ratio. */
export function addRatio(
  sheet: Sheet,
  what: string,
  {
    small,
    large,
    times,
    most,
  }: { small: readonly number[]; large: readonly number[]; times: number; most: number },
): void {
  const ratio = median(large) / median(small);
  sheet.add({
    what,
    x1_p50_ms: median(small),
    x1_p95_ms: percentile(small, 95),
    [`x${times}_p50_ms`]: median(large),
    [`x${times}_p95_ms`]: percentile(large, 95),
    ratio,
    samples: small.length,
  });
  sheet.atMost(`${what}, x${times} over x1`, ratio, most, 'times');
}
