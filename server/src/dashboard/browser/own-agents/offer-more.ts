import type { ElementSelector } from '../../element-ids.js';
import { respondTo } from '../events.js';
import { find, say, work } from '../wallets.js';

/** Offers the next page of a list; hides the button at its end. */
export function offerMore(
  root: HTMLElement,
  selector: ElementSelector,
  cursor: string | undefined,
  show: (cursor: string) => Promise<void>,
): void {
  const button = find(root, selector);
  button.hidden = cursor === undefined;
  respondTo(button, 'click', () => {
    if (cursor === undefined) return;
    work(root, 'There is no more to show.', async () => {
      await show(cursor);
      say(root, 'More are shown at the end of the list.');
    });
  });
}
