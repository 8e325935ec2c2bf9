/** The options of {@link element}. */
interface Parts {
  class?: string;
  /** Shown as text; markup in it is not parsed. */
  text?: string;
  href?: string;
  /** The action of a button. */
  onClick?: () => void;
}

/** Makes an element of text and other elements; nothing in it is read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  { class: className, text, href, onClick }: Parts = {},
  ...children: Node[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (className !== undefined) made.className = className;
  if (text !== undefined) made.textContent = text;
  if (href !== undefined) made.setAttribute('href', href);
  if (made instanceof HTMLButtonElement) made.type = 'button';
  if (onClick) made.addEventListener('click', onClick);
  made.append(...children);
  return made;
}

/** A fact of a list of facts (`dl`). */
export function fact(name: string, ...value: (Node | string)[]): HTMLElement[] {
  const told = document.createElement('dd');
  told.append(...value);
  return [element('dt', { text: name }), told];
}

/** A moment as a person reads it, in the browser's own time. */
export const momentOf = (timestamp: string): string =>
  new Date(timestamp).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
