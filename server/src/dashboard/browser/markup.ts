/** Characters that hide or reorder text, but for line breaks and the joiners of ordinary text. */
const HIDDEN = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Makes an element. Strings in it are shown as text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

/** Makes a button that does something. */
export function buttonOf(text: string, onPressed: () => void): HTMLButtonElement {
  const button = element('button', { type: 'button' }, text);
  button.addEventListener('click', onPressed);
  return button;
}

/** The entries of a list of facts. */
export function facts(entries: readonly (readonly [string, Node | string])[]): HTMLElement[] {
  return entries.flatMap(([term, fact]) => [element('dt', {}, term), element('dd', {}, fact)]);
}

/** Words that a person wrote, apart from the page's own around them. */
export function words(text: string, characters: number): HTMLElement {
  return element('bdi', { class: 'words' }, visible(text, characters));
}

/** Text of so many characters at most, in which a character that hides or reorders text is seen as `\u{202e}`. */
export function visible(text: string, characters: number): string {
  const cut = text.length <= characters ? text : `${text.slice(0, characters)}...`;
  return cut.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
