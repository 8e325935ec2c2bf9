import { formatSol, type Spending } from '@agent-rental/contract';
import { titleLine } from '../../words.js';
import { chartFigure } from '../chart/figure.js';
import { labelsOf } from '../chart/periods.js';
import { runsFigure, successFigure } from '../chart/run-figures.js';
import { LAMPORTS } from '../chart/units.js';

/** The most agents with a bar. */
const MOST_AGENTS = 8;

/** Shows the cost of a wallet's runs by day and by agent, and how the runs ended. */
export function showSpending(place: HTMLElement, { series, agents }: Spending): void {
  const periods = series.map((period) => ({ ...period, ...labelsOf(period.started_at, 'day') }));
  const isCut = agents.length > MOST_AGENTS;
  const spent = {
    unit: LAMPORTS,
    series: [{ name: 'spent', look: 'ok' }],
    words: formatSol,
    none: 'No run cost anything in this time.',
  } as const;
  place.replaceChildren(
    chartFigure({
      ...spent,
      title: 'Spent on runs by day',
      form: 'stacked',
      periods: periods.map(({ label, short, spent_lamports: lamports }) => ({
        label,
        short,
        values: [lamports],
      })),
    }),
    chartFigure({
      ...spent,
      title: `Spent on runs by agent${isCut ? `, the ${MOST_AGENTS} that cost most` : ''}`,
      form: 'ranked',
      periods: agents.slice(0, MOST_AGENTS).map(({ listing_title: title, listing_id: id, ...agent }) => ({
        label: `${titleLine(title)} (${id})`,
        short: titleLine(title),
        values: [agent.spent_lamports],
      })),
    }),
    runsFigure('Runs by day', periods),
    successFigure('Success rate', periods),
  );
}
