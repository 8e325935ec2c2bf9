import type { Chart } from './chart.js';

/** Units of axes: runs and others are counted, lamports are shown as SOL, shares as percent. */
export const RUNS = { name: 'runs', size: 1 } as const;
export const COUNT = { name: 'count', size: 1 } as const;
export const LAMPORTS = { name: 'SOL', size: 1e9 } as const;
export const SHARE = { name: '%', size: 0.01 } as const;

/** How runs end, in the order of their bars. */
export const ENDS = [
  { name: 'completed', look: 'ok' },
  { name: 'failed', look: 'bad' },
  { name: 'could not be served', look: 'dim' },
] as const satisfies Chart['series'];

/** A share from 0 to 1 in words. */
export const percentWords = (share: number): string => `${Math.round(share * 100)} %`;
