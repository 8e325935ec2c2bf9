import { element, visible } from '../markup.js';
import type { ChangedLine, FieldChange } from './public-changes.js';

const LINE_CHARACTERS = 4_000;
const MOST_LINES = 1_000;

/** Shows the differences between two versions, line by line, and names the compared fields. */
export function showChanges(place: HTMLElement, changes: readonly FieldChange[]): void {
  const found = changes.flatMap(({ field, lines }) => {
    const left = lines.length - MOST_LINES;
    return [
      element('h3', {}, field),
      element(
        'pre',
        { class: 'diff', tabindex: '0', role: 'group', 'aria-label': `Changes of ${field}` },
        ...lines.slice(0, MOST_LINES).map(lineOf),
        ...(left > 0 ? [element('span', { class: 'soft' }, `${left} more lines`)] : []),
      ),
    ];
  });
  const none = 'Category, description and schemas are the same.';
  place.replaceChildren(
    ...(found.length === 0 ? [element('p', {}, none)] : found),
    element(
      'p',
      { class: 'soft' },
      'Prompt, tools, model and endpoint are kept encrypted and are in no answer, so they are not compared.',
    ),
  );
}

function lineOf({ kind, text }: ChangedLine): HTMLElement {
  const line = visible(text, LINE_CHARACTERS);
  switch (kind) {
    case 'added':
      return element('ins', {}, `+ ${line}`);
    case 'removed':
      return element('del', {}, `- ${line}`);
    case 'same':
      return element('span', {}, `  ${line}`);
    case 'gap':
      return element('span', { class: 'soft' }, `  ... ${line}`);
    default:
      return kind satisfies never;
  }
}
