import { element } from '../markup.js';

const SVG = 'http://www.w3.org/2000/svg' as const;
/** The drawing's own units; the page stretches it. */
const WIDTH = 600;
const HEIGHT = 100;
/** The share of a period's width that its bars take. */
const BARS = 0.8;

/** Numbers over time, or over other things. */
export interface Chart {
  readonly title: string;
  /** The counted things, with the look of their bars. */
  readonly series: readonly { readonly name: string; readonly look: 'ok' | 'bad' | 'dim' }[];
  /** A value for each series; null where there is none. */
  readonly periods: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
  /** Of one period on top of each other, in place of beside each other. */
  readonly isStacked: boolean;
  /** How a value is read. */
  readonly words: (value: number) => string;
  /** The value of a full bar; absent: the largest there is. */
  readonly most?: number;
}

/** Draws bars, with their numbers in a table for who reads them. */
export function chartFigure(chart: Chart): HTMLElement {
  const top = topOf(chart);
  return element(
    'figure',
    {},
    element('figcaption', {}, chart.title),
    drawing(chart, top),
    element(
      'p',
      { class: 'soft' },
      ...chart.series.flatMap(({ name, look }, index) => [
        element('span', { class: look, 'aria-hidden': 'true' }, '\u25a0 '),
        index + 1 < chart.series.length ? `${name}, ` : `${name}. `,
      ]),
      top > 0 ? `A full bar is ${chart.words(top)}.` : 'There is nothing in this time.',
    ),
    element('details', {}, element('summary', {}, `${chart.title} as a table`), table(chart)),
  );
}

function topOf({ periods, isStacked, most }: Chart): number {
  if (most !== undefined) return most;
  const heights = periods.map(({ values }) => {
    const given = values.map((value) => value ?? 0);
    return isStacked ? given.reduce((sum, value) => sum + value, 0) : Math.max(0, ...given);
  });
  return Math.max(0, ...heights);
}

function drawing({ title, series, periods, isStacked, words }: Chart, top: number): SVGElement {
  const svg = drawn('svg', {
    class: 'chart',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${title}. The numbers are in the table below.`,
  });
  const width = WIDTH / Math.max(1, periods.length);
  const barWidth = (width * BARS) / (isStacked ? 1 : series.length);
  for (const [index, { label, values }] of periods.entries()) {
    let below = 0;
    for (const [place, { name, look }] of series.entries()) {
      const value = values[place] ?? 0;
      if (value <= 0 || top <= 0) continue;
      const height = (value / top) * HEIGHT;
      const bar = drawn('rect', {
        class: look,
        x: String(index * width + (width * (1 - BARS)) / 2 + (isStacked ? 0 : place * barWidth)),
        y: String(HEIGHT - below - height),
        width: String(barWidth),
        height: String(height),
      });
      const tip = drawn('title', {});
      tip.textContent = `${label}: ${name} ${words(value)}`;
      bar.append(tip);
      svg.append(bar);
      if (isStacked) below += height;
    }
  }
  return svg;
}

function drawn(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

function table({ title, series, periods, words }: Chart): HTMLElement {
  const head = ['', ...series.map(({ name }) => name)].map((name) =>
    name === '' ? element('td') : element('th', { scope: 'col' }, name),
  );
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
