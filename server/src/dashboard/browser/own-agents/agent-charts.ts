import { formatSol } from '@agent-rental/contract';
import type { AgentStats, AgentStatsPeriod, ListingEarnings } from '@agent-rental/contract';
import { chartFigure } from './chart.js';

/** Characters of a time that say its day, and its hour where the window has hours. */
const TIME_CHARACTERS = { '24h': 16, '7d': 10, '30d': 10 } as const;

/**
 * Shows the statistics of an agent over time: runs, successes, durations and earnings. Also shows the balance to
 * withdraw.
 */
export function showCharts(
  place: HTMLElement,
  { window, series = [] }: AgentStats,
  earned: ListingEarnings | undefined,
): void {
  const labelOf = ({ started_at: at }: AgentStatsPeriod) =>
    at.slice(0, TIME_CHARACTERS[window]).replace('T', ' ');
  const over = (valuesOf: (period: AgentStatsPeriod) => (number | null)[]) =>
    series.map((period) => ({ label: labelOf(period), values: valuesOf(period) }));
  place.replaceChildren(
    chartFigure({
      title: 'Runs',
      series: [
        { name: 'completed', look: 'ok' },
        { name: 'failed', look: 'bad' },
        { name: 'could not be served', look: 'dim' },
      ],
      periods: over(({ completed, failed, undelivered }) => [completed, failed, undelivered]),
      isStacked: true,
      words: String,
    }),
    chartFigure({
      title: 'Success rate',
      series: [{ name: 'of runs with a result', look: 'ok' }],
      periods: over(({ completed, failed }) => {
        const ended = completed + failed;
        return [ended === 0 ? null : completed / ended];
      }),
      isStacked: true,
      words: (share) => `${Math.round(share * 100)} %`,
      most: 1,
    }),
    chartFigure({
      title: 'Duration',
      series: [
        { name: 'half of the runs', look: 'ok' },
        { name: '95% of the runs', look: 'dim' },
      ],
      periods: over(({ duration_ms: { p50, p95 } }) => [p50, p95]),
      isStacked: false,
      words: (ms) => `${(ms / 1000).toFixed(2)} s`,
    }),
    chartFigure({
      title: 'Earned',
      series: [{ name: 'after the fee', look: 'ok' }],
      periods: over(({ earned_lamports: lamports }) => [lamports]),
      isStacked: true,
      words: formatSol,
    }),
    ...(earned === undefined ? [] : [earningsFigure(earned)]),
  );
}

function earningsFigure(earned: ListingEarnings): HTMLElement {
  const { earned_lamports: all, withdrawable_lamports: left, pending_lamports: pending } = earned;
  return chartFigure({
    title: 'Earnings in all',
    series: [{ name: 'SOL', look: 'ok' }],
    periods: [
      { label: 'ever earned', values: [all] },
      { label: 'to withdraw', values: [left] },
      { label: 'pending', values: [pending] },
    ],
    isStacked: true,
    words: formatSol,
  });
}
