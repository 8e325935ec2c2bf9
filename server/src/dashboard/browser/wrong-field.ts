/** An error about a field of the page, which is shown beside it. */
export class WrongField extends Error {
  readonly field: HTMLElement | undefined;

  constructor(field: HTMLElement | undefined, message: string) {
    super(message);
    this.field = field;
  }
}

/** Reads the text of a field. An error is about this field. @throws WrongField */
export function readField<T>(field: HTMLInputElement, read: (text: string) => T): T {
  try {
    return read(field.value);
  } catch (error) {
    throw new WrongField(field, error instanceof Error ? error.message : String(error));
  }
}

let count = 0;

/** Puts a fault below a field, and names it as the field's description. */
export function markWrong(field: HTMLElement, text: string): void {
  const note = document.createElement('span');
  note.className = 'wrong';
  note.id = `wrong-${(count += 1)}`;
  note.textContent = text;
  const described = field.getAttribute('aria-describedby');
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', described === null ? note.id : `${described} ${note.id}`);
  if (field instanceof HTMLFieldSetElement) field.append(note);
  else field.closest('label')?.after(note);
}

/** Removes the faults beside the fields of a part of the page. */
export function clearWrong(part: HTMLElement): void {
  for (const note of part.querySelectorAll('span.wrong')) {
    const field = part.querySelector(`[aria-describedby~=${note.id}]`);
    const others = (field?.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => id !== note.id);
    if (others.length > 0) field?.setAttribute('aria-describedby', others.join(' '));
    else field?.removeAttribute('aria-describedby');
    field?.removeAttribute('aria-invalid');
    note.remove();
  }
}
