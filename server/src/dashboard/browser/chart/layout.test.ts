import { describe, expect, it } from 'vitest';
import { periodWords, type Chart } from './chart.js';
import { layoutOf, type Mark } from './layout.js';
import { LAMPORTS, RUNS, SHARE } from './units.js';

const chart = (values: (number | null)[][], over: Partial<Chart> = {}): Chart => ({
  title: 'Runs',
  form: 'stacked',
  unit: RUNS,
  series: (values[0] ?? []).map((_, index) => ({ name: `s${index}`, look: 'ok' as const })),
  periods: values.map((each, index) => ({ label: `day ${index}`, short: `${index}`, values: each })),
  words: String,
  none: 'None.',
  ...over,
});
const boxOf = (mark: Mark | undefined) => {
  if (mark === undefined || !('width' in mark)) throw new Error('There is no bar.');
  return mark;
};

describe('the layout of a chart', () => {
  it('has bars in proportion to their values, stacked from the zero of the axis', () => {
    const { slots, grid, inner } = layoutOf(
      chart([
        [30, 10],
        [0, 0],
        [20, 0],
      ]),
      600,
    );
    expect(grid.map(({ text }) => text)).toEqual(['0', '10', '20', '30', '40']);
    expect(grid[0]?.at).toBe(inner.y + inner.height);
    expect(grid.at(-1)?.at).toBe(inner.y);
    const [first, second] = (slots[0]?.marks ?? []).map(boxOf);
    expect(first?.height).toBeCloseTo((inner.height * 30) / 40);
    expect(second?.height).toBeCloseTo(inner.height / 4);
    expect(second?.y).toBeCloseTo(inner.y);
    expect(first?.y).toBeCloseTo(inner.y + inner.height / 4);
    expect(slots[1]?.marks).toEqual([]);
    expect(slots[2]?.marks).toHaveLength(1);
    for (const { x, width } of slots) expect(x + width).toBeLessThanOrEqual(inner.x + inner.width + 0.001);
  });

  it('counts no half of a run, and shows lamports in the unit of its axis', () => {
    expect(layoutOf(chart([[1], [2]]), 600).grid.map(({ text }) => text)).toEqual(['0', '1', '2']);
    const sol = layoutOf(chart([[250_000], [700_000]], { unit: LAMPORTS }), 600).grid;
    expect(sol.map(({ text }) => text)).toEqual(['0', '0.0002', '0.0004', '0.0006', '0.0008']);
    const share = layoutOf(chart([[0.5], [1]], { unit: SHARE, form: 'lines', most: 1 }), 600).grid;
    expect(share.map(({ text }) => text)).toEqual(['0', '20', '40', '60', '80', '100']);
  });

  it('draws a negative value, as a fork may leave it, below the zero', () => {
    const { slots, grid } = layoutOf(chart([[-10], [20]], { unit: LAMPORTS }), 600);
    const zero = grid.find(({ text }) => text === '0')?.at ?? Number.NaN;
    expect(boxOf(slots[0]?.marks[0]).y).toBeCloseTo(zero);
    expect(boxOf(slots[1]?.marks[0]).y).toBeLessThan(zero);
  });

  it('ends a line where there is no value, and has a point for each value, also at zero', () => {
    const { lines, slots } = layoutOf(chart([[0], [null], [3], [4]], { form: 'lines' }), 600);
    expect(slots.map(({ marks }) => marks.length)).toEqual([1, 0, 1, 1]);
    expect(lines[0]?.path.match(/M/g)).toHaveLength(2);
  });

  it('labels as many periods as fit, the present one always', () => {
    const month = Array.from({ length: 30 }, (_, index) => [index]);
    const textsOf = (width: number) => layoutOf(chart(month), width).labels.map(({ text }) => text);
    expect(textsOf(700)).toEqual(['2', '5', '8', '11', '14', '17', '20', '23', '26', '29']);
    expect(textsOf(320)).toEqual(['5', '13', '21', '29']);
    expect(textsOf(30)).toEqual(['29']);
  });

  it('ranks the things with a value, each with a bar across and a label that fits', () => {
    const given = chart([[100], [0], [50]], { form: 'ranked' });
    const long = { label: 'x'.repeat(200), short: 'x'.repeat(200), values: [100] };
    const { slots, labels, inner } = layoutOf({ ...given, periods: [...given.periods, long] }, 300);
    expect(slots.map(({ period }) => period.label.slice(0, 5))).toEqual(['day 0', 'day 2', 'xxxxx']);
    expect(boxOf(slots[0]?.marks[0]).width).toBeCloseTo(inner.width);
    expect(boxOf(slots[1]?.marks[0]).width).toBeCloseTo(inner.width / 2);
    expect(labels.at(-1)?.text).toMatch(/^x{20,40}\.\.\.$/);
  });

  it('has words of a period, with the names of its series where there are several', () => {
    const of = (given: Chart) => given.periods.map((period) => periodWords(given, period));
    expect(of(chart([[1, null]]))).toEqual(['day 0: s0 1, s1 none']);
    expect(of(chart([[7]], { words: (value) => `${value} SOL` }))).toEqual(['day 0: 7 SOL']);
  });
});
