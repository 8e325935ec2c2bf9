import { atMost, median, percentile, round, type Row, type Target } from '../report.js';

/** What is measured with little there and with many times as much. */
export interface Compared {
  readonly what: string;
  small(): Promise<unknown>;
  large(): Promise<unknown>;
}

/** The rows and targets of a report, as they come. */
export interface Sheet {
  readonly rows: Row[];
  readonly targets: Target[];
  /** How many times as much is there at the larger size. */
  readonly times: number;
  progress(line: string): void;
}

const WARM_UPS = 3;

/** Measures each by turns, so that what else the machine does falls on both, and adds a row and a target for it. */
export async function compareByTurns(
  all: readonly Compared[],
  { rounds, most, sheet }: { rounds: number; most: number; sheet: Sheet },
): Promise<void> {
  for (const { what, small, large } of all) {
    const times = { small: [] as number[], large: [] as number[] };
    for (let count = -WARM_UPS; count < rounds; count += 1) {
      const taken = [await timed(small), await timed(large)] as const;
      if (count < 0) continue;
      times.small.push(taken[0]);
      times.large.push(taken[1]);
    }
    addRatio(sheet, what, times, most);
  }
}

/** Adds a row of two medians, and a target for their ratio where there is one. */
export function addRatio(
  { rows, targets, times, progress }: Sheet,
  what: string,
  { small, large }: { small: readonly number[]; large: readonly number[] },
  most?: number,
): void {
  const ratio = median(large) / median(small);
  rows.push({
    what,
    x1_p50_ms: round(median(small)),
    x1_p95_ms: round(percentile(small, 95)),
    [`x${times}_p50_ms`]: round(median(large)),
    [`x${times}_p95_ms`]: round(percentile(large, 95)),
    ratio: round(ratio),
    samples: small.length,
  });
  if (most !== undefined) targets.push(atMost(`${what}, x${times} over x1`, ratio, most, 'times'));
  progress(`${what}: ${round(median(small))} ms, ${round(median(large))} ms`);
}

/** How long work takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
