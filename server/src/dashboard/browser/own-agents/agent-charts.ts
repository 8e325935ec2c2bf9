import type { AgentsStats, AgentStats, AgentStatsPeriod } from '@agent-rental/contract';
import { earnedFigure, runsFigure, successFigure, type Ends } from '../chart/run-figures.js';
import { chartFigure } from '../chart/figure.js';
import { labelsOf } from '../chart/periods.js';
import { COUNT } from '../chart/units.js';

/** Shows the statistics of an agent over time: runs by their end, success rate, durations and earnings. */
export function showCharts(place: HTMLElement, stats: AgentStats): void {
  const { window, series = [] } = stats;
  const periods = series.map((period) => ({
    ...period,
    ...labelsOf(period.started_at, window === '24h' ? 'hour' : 'day'),
  }));
  place.replaceChildren(
    ...funnelFigures(stats),
    runsFigure('Runs', periods),
    successFigure('Success rate', periods),
    durationFigure(periods),
    earnedFigure('Earned', periods),
  );
}

/** How many views of the agent's page there were, how many new rentals, and how many runs. */
function funnelFigures({ views, rentals, runs }: AgentStats): HTMLElement[] {
  if (views === undefined || rentals === undefined) return [];
  const steps = [
    ['Views of its page', views],
    ['New rentals', rentals],
    ['Runs', runs.total],
  ] as const;
  return [
    chartFigure({
      title: 'From views to runs',
      form: 'ranked',
      unit: COUNT,
      series: [{ name: 'count', look: 'ok' }],
      periods: steps.map(([label, count]) => ({ label, short: label, values: [count] })),
      words: String,
      none: 'There was no view, no rental and no run in this time.',
    }),
  ];
}

/** Shows the earnings and runs of all agents of a creator by day. */
export function showAgentsCharts(place: HTMLElement, { series }: AgentsStats): void {
  const periods = series.map((period) => ({ ...period, ...labelsOf(period.started_at, 'day') }));
  place.replaceChildren(
    earnedFigure('Earned in the last 30 days', periods),
    runsFigure('Runs in the last 30 days', periods),
  );
}

function durationFigure(periods: readonly (Ends & Pick<AgentStatsPeriod, 'duration_ms'>)[]): HTMLElement {
  return chartFigure({
    title: 'Duration',
    form: 'lines',
    unit: { name: 'seconds', size: 1_000 },
    series: [
      { name: 'half of the runs', look: 'ok' },
      { name: '95% of the runs', look: 'dim' },
    ],
    periods: periods.map(({ label, short, duration_ms: { p50, p95 } }) => ({
      label,
      short,
      values: [p50, p95],
    })),
    words: (ms) => `${(ms / 1000).toFixed(2)} s`,
    none: 'There was no run with a result in this time.',
  });
}
