/** Elements of a view. Texts of strangers are always the text of an element. */
import { formatSol } from '@agent-rental/sdk';

type Child = Node | string | undefined;

/** Makes an element with children. */
export function element(name: string, children: readonly Child[], className = ''): HTMLElement {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** Makes a button. After its click it cannot be used again, until the work has failed. */
export function button(
  label: string,
  work: () => Promise<unknown>,
  onError: (error: Error) => void,
  className = '',
): HTMLButtonElement {
  const made = element('button', [label], className) as HTMLButtonElement;
  made.type = 'button';
  made.addEventListener('click', () => {
    made.disabled = true;
    work().catch((error: Error) => {
      made.disabled = false;
      onError(error);
    });
  });
  return made;
}

/** A list of names and values. */
export function facts(rows: readonly (readonly [name: string, value: unknown])[]): HTMLElement {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null);
  return element(
    'dl',
    shown.flatMap(([name, value]) => [element('dt', [name]), element('dd', [String(value)])]),
  );
}

/** Shows the parts of a view in place of earlier ones. */
export function show(...children: Child[]): void {
  document.querySelector('main')?.replaceChildren(...children.filter((child) => child !== undefined));
}

/** Tells of the state, also to screen readers. */
export function tell(text: string): void {
  const status = document.querySelector('[role=status]');
  if (status) status.textContent = text;
}

/** An amount in SOL, exact. Undefined where a value is no amount. */
export function sol(lamports: unknown): string | undefined {
  if (typeof lamports !== 'number' || !Number.isSafeInteger(lamports) || lamports < 0) return undefined;
  return formatSol(lamports);
}
