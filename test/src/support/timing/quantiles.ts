/** The value at that percentile (0 to 100) of the values, by nearest rank. @throws RangeError without values */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(Math.ceil((percent / 100) * sorted.length) - 1, 0)];
  if (value === undefined) throw new RangeError('There is no percentile of nothing.');
  return value;
}

/** Percentiles of times in milliseconds, to a tenth; all 0 without times. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly count: number;
}

/** The usual percentiles of times. */
export function quantilesOf(times: readonly number[]): Quantiles {
  const at = (percent: number) => (times.length === 0 ? 0 : Math.round(percentile(times, percent) * 10) / 10);
  return { p50: at(50), p95: at(95), p99: at(99), max: at(100), count: times.length };
}
