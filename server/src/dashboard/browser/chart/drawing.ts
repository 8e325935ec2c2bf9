import { periodWords, type Chart } from './chart.js';
import { layoutOf, type Layout, type Mark } from './layout.js';

const SVG = 'http://www.w3.org/2000/svg' as const;
const POINT_RADIUS = 3;

/**
 * Draws a chart in a width of so many pixels. One of its periods can be focused with Tab, the others with the arrow keys.
 *
 * @param onPeriod is told the words of the period under the pointer or the focus
 */
export function drawingOf(chart: Chart, width: number, onPeriod: (words: string) => void): SVGElement {
  const layout = layoutOf(chart, width);
  const drawing = drawn(
    'svg',
    {
      class: 'chart',
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      width: layout.width,
      height: layout.height,
      role: 'group',
      'aria-label': `${chart.title}. The numbers are in the table below. The arrow keys move between them.`,
    },
    ...axes(chart, layout),
    ...layout.lines.map(({ series, path }) =>
      drawn('path', { class: `line ${lookOf(chart, series)}`, d: path }),
    ),
    ...slots(chart, layout, onPeriod),
  );
  drawing.addEventListener('keydown', (event) => moveFocus(drawing, event));
  return drawing;
}

function axes({ form, unit }: Chart, { grid, labels, inner, width, height }: Layout): SVGElement[] {
  const right = inner.x + inner.width;
  const bottom = inner.y + inner.height;
  const lines = grid.flatMap(({ at, text }) =>
    form === 'ranked'
      ? [
          drawn('line', { x1: at, x2: at, y1: inner.y, y2: bottom }),
          label(text, { x: at, y: height - 8, 'text-anchor': 'middle' }),
        ]
      : [
          drawn('line', { x1: inner.x, x2: right, y1: at, y2: at }),
          label(text, { x: inner.x - 6, y: at + 4, 'text-anchor': 'end' }),
        ],
  );
  const anchor = form === 'ranked' ? 'start' : 'middle';
  return [
    drawn(
      'g',
      { class: 'axes', 'aria-hidden': 'true' },
      ...lines,
      label(unit.name, {
        x: form === 'ranked' ? width : 0,
        y: 12,
        'text-anchor': form === 'ranked' ? 'end' : 'start',
      }),
    ),
    drawn(
      'g',
      { class: 'labels', 'aria-hidden': 'true' },
      ...labels.map(({ text, x, y }) => label(text, { x, y, 'text-anchor': anchor })),
    ),
  ];
}

function slots(chart: Chart, { slots: given }: Layout, onPeriod: (words: string) => void): SVGElement[] {
  return given.map(({ period, marks, x, y, width, height }, index) => {
    const words = periodWords(chart, period);
    const slot = drawn(
      'g',
      // Tab reaches the present period, or the first in rank.
      {
        class: 'slot',
        role: 'img',
        tabindex: index === (chart.form === 'ranked' ? 0 : given.length - 1) ? 0 : -1,
      },
      titled(words),
      drawn('rect', { class: 'place', x, y, width, height }),
      ...marks.map((mark) => drawnMark(mark, lookOf(chart, mark.series))),
    );
    for (const event of ['pointerenter', 'focus'] as const)
      slot.addEventListener(event, () => onPeriod(words));
    return slot;
  });
}

function drawnMark(mark: Mark, look: string): SVGElement {
  return 'width' in mark
    ? drawn('rect', { class: look, x: mark.x, y: mark.y, width: mark.width, height: mark.height })
    : drawn('circle', { class: look, cx: mark.x, cy: mark.y, r: POINT_RADIUS });
}

/** Moves the focus to another period, which Tab reaches from then on. */
function moveFocus(drawing: SVGElement, event: KeyboardEvent): void {
  const all = [...drawing.querySelectorAll<SVGElement>('.slot')];
  const present = all.findIndex((slot) => slot === document.activeElement);
  const places: Readonly<Record<string, number>> = {
    ArrowLeft: present - 1,
    ArrowUp: present - 1,
    ArrowRight: present + 1,
    ArrowDown: present + 1,
    Home: 0,
    End: all.length - 1,
  };
  const next = all[places[event.key] ?? -1];
  if (present < 0 || next === undefined) return;
  event.preventDefault();
  all[present]?.setAttribute('tabindex', '-1');
  next.setAttribute('tabindex', '0');
  next.focus();
}

const lookOf = ({ series }: Chart, place: number): string => series[place]?.look ?? 'ok';

function label(text: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = drawn('text', attributes);
  made.textContent = text;
  return made;
}

function titled(text: string): SVGElement {
  const made = drawn('title');
  made.textContent = text;
  return made;
}

function drawn(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: SVGElement[]
): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) {
    made.setAttribute(attribute, typeof value === 'number' ? String(Math.round(value * 10) / 10) : value);
  }
  made.append(...children);
  return made;
}
