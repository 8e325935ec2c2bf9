import { ICON_MAX_BYTES } from '@agent-rental/contract';
import type { ElementSelector } from '../element-ids.js';
import { respondTo } from './events.js';

/** The texts in the fields of a form, by the path of each field's member. */
export function typedFields(form: HTMLElement): Map<string, string> {
  const typed = new Map<string, string>();
  for (const field of form.querySelectorAll('[data-path]')) {
    const isField =
      field instanceof HTMLInputElement ||
      field instanceof HTMLSelectElement ||
      field instanceof HTMLTextAreaElement;
    if (isField) typed.set(field.dataset['path'] ?? '', field.dataset['content'] ?? field.value);
  }
  return typed;
}

/** Keeps the chosen picture of a form as its field's text, in base64. */
export function keepPicture(form: HTMLElement): void {
  const field = form.querySelector<HTMLInputElement>('[data-path="listing.icon"]');
  if (field === null) return;
  const keep = async () => {
    const [file] = field.files ?? [];
    // A larger one is refused, and need not be read whole.
    const bytes = new Uint8Array((await file?.slice(0, ICON_MAX_BYTES + 1).arrayBuffer()) ?? []);
    field.dataset['content'] = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  };
  field.dataset['content'] = '';
  respondTo(field, 'change', () => void keep());
}

/** A form of the page. @throws Error where it has none. */
export function findForm(root: HTMLElement, selector: ElementSelector): HTMLFormElement {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLFormElement)) throw new Error(`The page lacks the form ${selector}.`);
  return found;
}

/** A text area of the page. @throws Error where it has none. */
export function findTextArea(root: HTMLElement, selector: ElementSelector): HTMLTextAreaElement {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLTextAreaElement)) throw new Error(`The page lacks the text area ${selector}.`);
  return found;
}

/** A choice of the page. @throws Error where it has none. */
export function findSelect(root: HTMLElement, selector: ElementSelector): HTMLSelectElement {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLSelectElement)) throw new Error(`The page lacks the choice ${selector}.`);
  return found;
}
