import { formatSol } from '@agent-rental/contract';
import { chartFigure } from './figure.js';
import { ENDS, LAMPORTS, percentWords, RUNS, SHARE } from './units.js';

/** How runs of an hour or day ended, with its labels. */
export interface Ends {
  readonly label: string;
  readonly short: string;
  readonly completed: number;
  readonly failed: number;
  readonly undelivered: number;
}

/** Runs by their end. */
export const runsFigure = (title: string, periods: readonly Ends[]): HTMLElement =>
  chartFigure({
    title,
    form: 'stacked',
    unit: RUNS,
    series: ENDS,
    periods: periods.map(({ label, short, completed, failed, undelivered }) => ({
      label,
      short,
      values: [completed, failed, undelivered],
    })),
    words: String,
    none: 'There was no run in this time.',
  });

/** The share of runs with a result that succeeded. */
export const successFigure = (title: string, periods: readonly Ends[]): HTMLElement =>
  chartFigure({
    title,
    form: 'lines',
    unit: SHARE,
    series: [{ name: 'of runs with a result', look: 'ok' }],
    periods: periods.map(({ label, short, completed, failed }) => ({
      label,
      short,
      values: [completed + failed === 0 ? null : completed / (completed + failed)],
    })),
    words: percentWords,
    most: 1,
    none: 'There was no run with a result in this time.',
  });

/** Earnings after the fee. */
export const earnedFigure = (
  title: string,
  periods: readonly (Pick<Ends, 'label' | 'short'> & { readonly earned_lamports: number })[],
): HTMLElement =>
  chartFigure({
    title,
    form: 'stacked',
    unit: LAMPORTS,
    series: [{ name: 'after the fee', look: 'ok' }],
    periods: periods.map(({ label, short, earned_lamports: lamports }) => ({
      label,
      short,
      values: [lamports],
    })),
    words: formatSol,
    none: 'Nothing was earned in this time.',
  });
