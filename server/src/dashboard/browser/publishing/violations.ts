import { inSol, type Violation } from '@agent-rental/contract';
import { element, visible } from '../markup.js';

export type { Violation };

const MESSAGE_CHARACTERS = 500;
let count = 0;

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
  clear(fields, list);
  const known = [...fields.querySelectorAll<HTMLElement>('[data-path]')].filter(isShown);
  for (const violation of violations) {
    const { path, message } = violation;
    const text = visible(inSol(`${path} ${message}`.trim()), MESSAGE_CHARACTERS);
    const field = known.find((candidate) => isAbout(candidate.dataset['path'] ?? '', path));
    if (field === undefined) list.append(element('li', {}, text));
    else attach(field, text);
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

/** Puts a fault below a field, and names it as the field's description. */
function attach(field: HTMLElement, text: string): void {
  const id = `wrong-${(count += 1)}`;
  field.setAttribute('aria-invalid', 'true');
  const described = field.getAttribute('aria-describedby');
  field.setAttribute('aria-describedby', described === null ? id : `${described} ${id}`);
  const note = element('span', { class: 'wrong', id }, text);
  if (field instanceof HTMLFieldSetElement) field.append(note);
  else field.closest('label')?.after(note);
}

function clear(fields: HTMLElement, list: HTMLElement): void {
  list.replaceChildren();
  for (const note of fields.querySelectorAll('span.wrong')) note.remove();
  for (const field of fields.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
  }
}
