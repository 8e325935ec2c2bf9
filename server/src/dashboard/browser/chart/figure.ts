import { element } from '../markup.js';
import { hasValue, periodWords, type Chart } from './chart.js';
import { drawingOf } from './drawing.js';

/**
 * A chart with its title, and its numbers in a table. Of no value or one value there is a sentence in place of the
 * drawing, because one full bar says nothing.
 */
export function chartFigure(chart: Chart): HTMLElement {
  const { title, periods } = chart;
  const shown = periods.filter((period) => hasValue(chart, period));
  const [only] = shown;
  const caption = element('figcaption', {}, title);
  if (only === undefined) return element('figure', {}, caption, element('p', { class: 'soft' }, chart.none));
  const details = element('details', {}, element('summary', {}, `${title} as a table`), tableOf(chart));
  if (shown.length === 1) {
    return element('figure', {}, caption, element('p', {}, `Only ${periodWords(chart, only)}.`), details);
  }
  return element('figure', {}, caption, ...legendOf(chart), ...drawingPlace(chart), details);
}

/** The place of the drawing, which is drawn again when the place gets another width. Below it are the words of a period. */
function drawingPlace(chart: Chart): HTMLElement[] {
  // Seen: screen readers have the same words at the focused period.
  const first = chart.form === 'ranked' ? chart.periods[0] : chart.periods.at(-1);
  const told = element('p', { class: 'told', 'aria-hidden': 'true' }, first ? periodWords(chart, first) : '');
  const place = element('div', { class: 'drawing' });
  let drawnWidth = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === 0 || width === drawnWidth) return;
    drawnWidth = width;
    place.replaceChildren(drawingOf(chart, width, (words) => (told.textContent = words)));
  }).observe(place);
  return [place, told];
}

function legendOf({ series }: Chart): HTMLElement[] {
  if (series.length === 1) return [];
  const parts = series.flatMap(({ name, look }) => [
    element('span', {}, element('span', { class: look, 'aria-hidden': 'true' }, '\u25a0 '), name),
  ]);
  return [element('p', { class: 'legend' }, ...parts)];
}

function tableOf({ title, series, periods, words }: Chart): HTMLElement {
  const head = [element('td'), ...series.map(({ name }) => element('th', { scope: 'col' }, name))];
  const rows = periods.map(({ label, values }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, label),
      ...values.map((value) => element('td', {}, value === null ? 'none' : words(value))),
    ),
  );
  const body = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  );
  return element('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': title }, body);
}
