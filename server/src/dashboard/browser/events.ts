const responding = new WeakMap<HTMLElement, AbortController>();

/** Does something at an event of a part of the page, in place of what an earlier call gave; a form does not load the page anew. */
export function respondTo(part: HTMLElement, event: 'click' | 'submit' | 'change', act: () => void): void {
  responding.get(part)?.abort();
  const controller = new AbortController();
  responding.set(part, controller);
  const onEvent = (happened: Event) => {
    if (event === 'submit') happened.preventDefault();
    act();
  };
  part.addEventListener(event, onEvent, { signal: controller.signal });
}
