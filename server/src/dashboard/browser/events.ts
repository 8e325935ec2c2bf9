const responding = new WeakMap<HTMLElement, AbortController>();

/**
 * Sets the action for an event of a part of the page, in place of an earlier one. A form does not reload the page.
 */
export function respondTo(
  part: HTMLElement,
  event: 'click' | 'submit' | 'change' | 'input',
  act: () => void,
): void {
  responding.get(part)?.abort();
  const controller = new AbortController();
  responding.set(part, controller);
  const onEvent = (happened: Event) => {
    if (event === 'submit') happened.preventDefault();
    act();
  };
  part.addEventListener(event, onEvent, { signal: controller.signal });
}
