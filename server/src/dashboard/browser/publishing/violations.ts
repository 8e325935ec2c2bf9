import { inSol, type Violation } from '@agent-rental/contract';
import { element, visible } from '../markup.js';
import { clearWrong, markWrong } from '../wrong-field.js';

export type { Violation };

const MESSAGE_CHARACTERS = 500;

/**
 * Shows violations with their paths, each beside its field, or in the list without a visible field. Focuses the first
 * field. Removes the violations that were shown before.
 *
 * @param fields holds the fields, each with the path of its member in `data-path`
 */
export function showViolations(
  fields: HTMLElement,
  list: HTMLElement,
  violations: readonly Violation[],
): void {
  clearWrong(fields);
  list.replaceChildren();
  const known = [...fields.querySelectorAll<HTMLElement>('[data-path]')].filter(isShown);
  for (const violation of violations) {
    const { path, message } = violation;
    const text = visible(inSol(`${path} ${message}`.trim()), MESSAGE_CHARACTERS);
    const field = known.find((candidate) => isAbout(candidate.dataset['path'] ?? '', path));
    if (field === undefined) list.append(element('li', {}, text));
    else markWrong(field, text);
  }
  const first = fields.querySelector<HTMLElement>('[aria-invalid]');
  if (first !== null) first.focus();
  else if (violations.length > 0) list.scrollIntoView({ block: 'center' });
}

/** Whether a field gives the member at a path, or holds it. */
function isAbout(field: string, path: string): boolean {
  return field !== '' && (path === field || path.startsWith(`${field}.`));
}

const isShown = (field: HTMLElement) => field.closest('[hidden]') === null;
