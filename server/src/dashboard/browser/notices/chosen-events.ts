import type { EventName } from '@agent-rental/contract';

const boxesOf = (form: HTMLFormElement) => [...form.querySelectorAll<HTMLInputElement>('input[name=event]')];

/** The events that a form has checked. */
export function chosenEvents(form: HTMLFormElement): EventName[] {
  return boxesOf(form).flatMap(({ checked, value }) => (checked ? [value as EventName] : []));
}

/** Checks these events of a form, and no other. */
export function chooseEvents(form: HTMLFormElement, names: readonly string[]): void {
  for (const box of boxesOf(form)) box.checked = names.includes(box.value);
}
