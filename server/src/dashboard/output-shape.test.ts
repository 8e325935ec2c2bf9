import { expect, it } from 'vitest';
import { shapeOf, shapeOfText } from './output-shape.js';

const text = (words: string) => ({ kind: 'text', text: words });

it.each([
  ['a text', 'Done.', text('Done.')],
  ['a number', 7, text('7')],
  ['no value', null, text('null')],
  ['an empty list', [], text('[]')],
  ['a list of texts', ['a'], text('[\n  "a"\n]')],
  ['an empty object', {}, text('{}')],
  [
    'objects of the same members',
    [
      { day: 'Mon', sum: 2 },
      { day: 'Tue', note: { late: true } },
    ],
    {
      kind: 'table',
      columns: ['day', 'sum', 'note'],
      rows: [
        ['Mon', '2', ''],
        ['Tue', '', '{"late":true}'],
      ],
    },
  ],
  [
    'an object with a list of objects',
    { ok: true, rows: [{ id: 1 }] },
    {
      kind: 'members',
      members: [
        ['ok', text('true')],
        ['rows', { kind: 'table', columns: ['id'], rows: [['1']] }],
      ],
    },
  ],
])('shows %s', (_, output, shape) => {
  expect(shapeOf(output)).toEqual(shape);
});

it('shows as text an output that has too many rows, columns or members', () => {
  const wide = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`field${at}`, at]));
  for (const output of [wide, [wide], Array.from({ length: 101 }, () => ({ a: 1 }))]) {
    expect(shapeOf(output).kind).toBe('text');
  }
});

it('cuts a long cell', () => {
  expect(shapeOf([{ a: 'x'.repeat(5_000) }])).toMatchObject({ rows: [[`${'x'.repeat(2_000)}...`]] });
});

it('reads a sample that is JSON, and keeps all others as they are', () => {
  expect(shapeOfText('{"a": 1}').kind).toBe('members');
  for (const sample of ['{"a": 1', '"text"', 'Plain words.', '{"id": 1917043659912705297}']) {
    expect(shapeOfText(sample)).toEqual(text(sample));
  }
});
