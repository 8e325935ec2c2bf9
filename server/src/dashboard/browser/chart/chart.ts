/** Numbers over time, or of several things. */
export interface Chart {
  readonly title: string;
  /** The unit of the axis, and how much of a value is one of it: a value of 1e9 lamports is 1 SOL. */
  readonly unit: { readonly name: string; readonly size: number };
  /** `stacked`: bars of all series on each other. `lines`: a line for each series. `ranked`: a bar across for each period. */
  readonly form: 'stacked' | 'lines' | 'ranked';
  /** The counted things, with the look of their bars or lines. */
  readonly series: readonly { readonly name: string; readonly look: 'ok' | 'bad' | 'dim' }[];
  readonly periods: readonly ChartPeriod[];
  /** How a value is read. */
  readonly words: (value: number) => string;
  /** The end of the axis, as a value; absent: the largest value, rounded up. */
  readonly most?: number;
  /** Said where there is no value. */
  readonly none: string;
}

/** An hour, a day, or another thing that values belong to. */
export interface ChartPeriod {
  readonly label: string;
  /** A shorter label, for the axis. */
  readonly short: string;
  /** A value for each series; null where there is none. */
  readonly values: readonly (number | null)[];
}

/** Whether a period has something to draw: a bar of nothing is not seen, a point at zero is. */
export function hasValue({ form }: Pick<Chart, 'form'>, { values }: ChartPeriod): boolean {
  return values.some((value) => value !== null && (form === 'lines' || value !== 0));
}

/** The values of a period in words. */
export function periodWords({ series, words }: Chart, { label, values }: ChartPeriod): string {
  const told = values.map((value, index) => {
    const amount = value === null ? 'none' : words(value);
    return series.length === 1 ? amount : `${series[index]?.name ?? ''} ${amount}`;
  });
  return `${label}: ${told.join(', ')}`;
}
