import { formatSol, type OperatorOverview } from '@agent-rental/contract';
import { chartFigure } from '../chart/figure.js';
import { labelsOf } from '../chart/periods.js';
import { runsFigure } from '../chart/run-figures.js';
import { LAMPORTS } from '../chart/units.js';

/** Shows the runs and the revenue of the marketplace by day. */
export function showOperatorCharts(place: HTMLElement, days: OperatorOverview['days']): void {
  const periods = days.map((day) => ({ ...day, ...labelsOf(day.started_at, 'day') }));
  place.replaceChildren(
    runsFigure('Runs in the last 30 days', periods),
    chartFigure({
      title: 'Revenue in the last 30 days',
      form: 'stacked',
      unit: LAMPORTS,
      series: [
        { name: 'creators', look: 'ok' },
        { name: "the protocol's fee", look: 'dim' },
      ],
      periods: periods.map(({ label, short, earned_lamports: earned, fee_lamports: fee }) => ({
        label,
        short,
        values: [earned, fee],
      })),
      words: formatSol,
      none: 'Nothing was sold in this time.',
    }),
  );
}
