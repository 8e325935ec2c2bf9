import { shapeOf, type OutputShape } from '../../output-shape.js';
import { boundedText } from '../../words.js';
import { element } from '../elements.js';

const CELL_CHARACTERS = 2_000;

/** An output as a table or as a list of members; undefined where it is shown as text alone. */
export function outputView(output: unknown): HTMLElement | undefined {
  const shape = shapeOf(output);
  return shape.kind === 'text' ? undefined : viewOf(shape);
}

function viewOf(shape: OutputShape): HTMLElement {
  switch (shape.kind) {
    case 'text':
      return wordsOf(shape.text);
    case 'table':
      return tableOf(shape);
    case 'members':
      return element(
        'dl',
        { class: 'facts card' },
        ...shape.members.flatMap(([name, value]) => [
          element('dt', {}, wordsOf(name)),
          element('dd', {}, viewOf(value)),
        ]),
      );
    default:
      return shape satisfies never;
  }
}

function tableOf({ columns, rows }: Extract<OutputShape, { kind: 'table' }>): HTMLElement {
  const rowOf = (name: 'th' | 'td', cells: readonly string[]) =>
    element('tr', {}, ...cells.map((cell) => element(name, {}, wordsOf(cell))));
  const table = element(
    'table',
    { class: 'wide' },
    element('thead', {}, rowOf('th', columns)),
    element('tbody', {}, ...rows.map((row) => rowOf('td', row))),
  );
  const scroll = element('div', { class: 'scroll' }, table);
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'region');
  scroll.setAttribute('aria-label', 'As a table');
  return scroll;
}

/** A stranger's text. */
const wordsOf = (text: string): HTMLElement =>
  element('bdi', { class: 'words', text: boundedText(text, CELL_CHARACTERS) });
