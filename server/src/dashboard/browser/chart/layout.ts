import { nice, ticks } from 'd3-array';
import { line } from 'd3-shape';
import { hasValue, type Chart, type ChartPeriod } from './chart.js';

/** Where the parts of a chart are, in pixels. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Lines of the axis of values, each with its text. */
  readonly grid: readonly { readonly at: number; readonly text: string }[];
  /** Labels of the periods, or of ranked things. */
  readonly labels: readonly { readonly x: number; readonly y: number; readonly text: string }[];
  /** The place of each period, which reacts to a pointer. */
  readonly slots: readonly (Box & { readonly period: ChartPeriod; readonly marks: readonly Mark[] })[];
  /** The path of each line, with the index of its series. */
  readonly lines: readonly { readonly series: number; readonly path: string }[];
  /** The inner area, inside the axes. */
  readonly inner: Box;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A bar, or a point of a line, of a series. */
export type Mark = { readonly series: number } & (Box | { readonly x: number; readonly y: number });

const HEIGHT = 190;
const MARGIN = { top: 22, right: 10, bottom: 24 } as const;
/** Widths in pixels: of a character of an axis, and of a label of a period with its space. */
const CHARACTER = 7;
const LABEL = 64;
const TICKS = 4;
/** The share of a period's width that its bar takes, and the widest bar in pixels. */
const BAR = 0.7;
const WIDEST_BAR = 36;
/** Heights in pixels of a ranked thing, and of its bar. */
const ROW = { height: 38, bar: 14 } as const;

/** Lays a chart out in a width. */
export function layoutOf(chart: Chart, width: number): Layout {
  const axis = axisOf(chart);
  return chart.form === 'ranked' ? ranked(chart, width, axis) : overTime(chart, width, axis);
}

/** The axis of values: its two ends, and its ticks, as values. */
interface Axis {
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly { readonly value: number; readonly text: string }[];
}

/** @returns an axis that has the zero, and ends at round numbers of the unit */
function axisOf({ form, periods, unit, most }: Chart): Axis {
  const sums = periods.flatMap(({ values }) => {
    const given = values.map((value) => value ?? 0);
    return form === 'stacked' ? [given.reduce((sum, value) => sum + value, 0)] : given;
  });
  const ends = [Math.min(0, ...sums), most ?? Math.max(0, ...sums)].map((value) => value / unit.size);
  const [low = 0, high = 0] = ends;
  // Nothing counts halves of whole things: 2 is the least end of an axis that counts them.
  const top = high > low ? high : low + 1;
  const [from, to] = most === undefined ? nice(low, top, TICKS) : [low, top];
  const isWhole = unit.size === 1;
  return {
    from: from * unit.size,
    to: to * unit.size,
    ticks: ticks(from, to, TICKS)
      .filter((tick) => !isWhole || Number.isInteger(tick))
      .map((tick) => ({
        value: tick * unit.size,
        text: tick.toLocaleString('en', { maximumSignificantDigits: 6 }),
      })),
  };
}

function overTime(chart: Chart, width: number, { from, to, ticks: given }: Axis): Layout {
  const { form, periods, series } = chart;
  const longest = Math.max(...given.map(({ text }) => text.length));
  const left = longest * CHARACTER + 12;
  const inner = box(left, MARGIN.top, width - left - MARGIN.right, HEIGHT - MARGIN.top - MARGIN.bottom);
  const y = (value: number) => inner.y + ((to - value) / (to - from)) * inner.height;
  const step = inner.width / Math.max(1, periods.length);
  const middle = (index: number) => inner.x + (index + 0.5) * step;
  const bar = Math.min(step * BAR, WIDEST_BAR);
  const marksOf = ({ values }: ChartPeriod, index: number): Mark[] => {
    let [up, down] = [0, 0];
    return values.flatMap((value, place): Mark[] => {
      if (value === null || (value === 0 && form === 'stacked')) return [];
      if (form === 'lines') return [{ series: place, x: middle(index), y: y(value) }];
      const start = value > 0 ? up : down;
      if (value > 0) up += value;
      else down += value;
      const [top, bottom] = [y(Math.max(start, start + value)), y(Math.min(start, start + value))];
      return [{ series: place, ...box(middle(index) - bar / 2, top, bar, bottom - top) }];
    });
  };
  const every = Math.ceil(periods.length / Math.max(1, Math.floor(inner.width / LABEL)));
  const pathOf = (place: number) =>
    line<ChartPeriod>()
      .defined(({ values }) => (values[place] ?? null) !== null)
      .x((_, index) => middle(index))
      .y(({ values }) => y(values[place] ?? 0))(periods) ?? '';
  return {
    width,
    height: HEIGHT,
    inner,
    grid: given.map(({ value, text }) => ({ at: y(value), text })),
    // Counted from the end: the present period has a label.
    labels: periods.flatMap(({ short }, index) =>
      (periods.length - 1 - index) % every === 0
        ? [{ x: middle(index), y: HEIGHT - MARGIN.bottom + 16, text: short }]
        : [],
    ),
    slots: periods.map((period, index) => ({
      ...box(inner.x + index * step, inner.y, step, inner.height),
      period,
      marks: marksOf(period, index),
    })),
    lines: form === 'lines' ? series.map((_, place) => ({ series: place, path: pathOf(place) })) : [],
  };
}

function ranked(chart: Chart, width: number, { from, to, ticks: given }: Axis): Layout {
  const shown = chart.periods.filter((period) => hasValue(chart, period));
  const height = MARGIN.top + shown.length * ROW.height + MARGIN.bottom;
  // Half of a tick's text is beyond each end.
  const inner = box(4, MARGIN.top, width - 4 - 4 * CHARACTER, shown.length * ROW.height);
  const x = (value: number) => inner.x + ((value - from) / (to - from)) * inner.width;
  const most = Math.floor(inner.width / CHARACTER);
  return {
    width,
    height,
    inner,
    grid: given.map(({ value, text }) => ({ at: x(value), text })),
    labels: shown.map(({ short }, index) => ({
      x: inner.x + 4,
      y: inner.y + index * ROW.height + 15,
      text: short.length > most ? `${short.slice(0, most - 3)}...` : short,
    })),
    slots: shown.map((period, index) => {
      const top = inner.y + index * ROW.height;
      const value = period.values[0] ?? 0;
      return {
        ...box(inner.x, top, inner.width, ROW.height),
        period,
        marks: [{ series: 0, ...box(x(0), top + 20, x(value) - x(0), ROW.bar) }],
      };
    }),
    lines: [],
  };
}

const box = (x: number, y: number, width: number, height: number): Box => ({
  x,
  y,
  width: Math.max(0, width),
  height: Math.max(0, height),
});
