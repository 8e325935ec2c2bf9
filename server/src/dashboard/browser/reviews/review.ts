import { connect, find, offerWallets, say } from '../wallets.js';
import type { ElementSelector } from '../../element-ids.js';

/** Reviews the listing of a page with a wallet that has run it; a second review replaces the first. */
export function offerReview(root: HTMLElement): void {
  // Enter in a field chooses no wallet.
  root.querySelector('form')?.addEventListener('submit', (event) => event.preventDefault());
  offerWallets(root, {
    verb: 'Review with',
    failed: 'Your review was not published.',
    onChosen: async (wallet) => {
      const rating = Number(valueOf(root, '#rating'));
      const comment = valueOf(root, '#comment').trim();
      const { client } = await connect(root, wallet);
      await client.createReview(root.dataset['listing'] ?? '', {
        rating,
        ...(comment === '' ? {} : { comment }),
      });
      say(root, 'Your review is published. Load the page again to see it.');
    },
  });
}

function valueOf(root: HTMLElement, selector: ElementSelector): string {
  const field = find(root, selector);
  return field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement ? field.value : '';
}
