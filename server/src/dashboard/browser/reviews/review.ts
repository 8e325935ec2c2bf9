import type { RentalClient } from '@agent-rental/sdk';
import { type ReportReason } from '@agent-rental/contract';
import { connect, find, offerWallets, say } from '../wallets.js';
import type { ElementSelector } from '../../element-ids.js';

/** Sends a form about the listing of a page, with the wallet that is chosen. */
function offerForm(
  root: HTMLElement,
  words: { verb: string; failed: string; done: string },
  send: (client: RentalClient, listingId: string) => Promise<unknown>,
): void {
  // Enter in a field chooses no wallet.
  root.querySelector('form')?.addEventListener('submit', (event) => event.preventDefault());
  offerWallets(root, {
    ...words,
    onChosen: async (wallet) => {
      const { client } = await connect(root, wallet);
      await send(client, root.dataset['listing'] ?? '');
      say(root, words.done);
    },
  });
}

/** Reviews the listing of a page with a wallet that has run it; a second review replaces the first. */
export function offerReview(root: HTMLElement): void {
  const words = {
    verb: 'Review with',
    failed: 'Your review was not published.',
    done: 'Your review is published. Load the page again to see it.',
  };
  offerForm(root, words, (client, id) => {
    const comment = valueOf(root, '#comment').trim();
    const rating = Number(valueOf(root, '#rating'));
    return client.createReview(id, { rating, ...(comment === '' ? {} : { comment }) });
  });
}

/** Reports the listing of a page to the operator. */
export function offerReport(root: HTMLElement): void {
  const words = {
    verb: 'Report with',
    failed: 'Your report was not sent.',
    done: 'The operator has your report.',
  };
  offerForm(root, words, (client, id) =>
    client.createReport(id, {
      reason: valueOf(root, '#report-reason') as ReportReason,
      text: valueOf(root, '#report-text'),
    }),
  );
}

function valueOf(root: HTMLElement, selector: ElementSelector): string {
  const field = find(root, selector);
  return field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement ? field.value : '';
}
