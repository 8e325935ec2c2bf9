import type { CredentialVerification } from '@agent-rental/contract';
import { rent } from '@agent-rental/sdk/solana';
import { showExistingRental } from './existing-rental.js';
import { readChosenPayment, type Payment } from './payment.js';
import { showTour } from './session/tour.js';
import { announced } from './signing.js';
import { connect, find, offerWallets, say, type Session } from './wallets.js';

/**
 * Pays for a rental with a wallet of this browser. The sdk checks the transaction before it asks the wallet: the
 * transaction must match this page and take no more. A wallet that has the rental sees it, and pays by another button.
 */
export function offerPayment(root: HTMLElement): void {
  // Enter in the deposit would reload the page, and it chooses no wallet.
  root.querySelector('form')?.addEventListener('submit', (event) => event.preventDefault());
  const end = (text: string) => {
    say(root, text);
    // A second press would pay again.
    for (const form of root.querySelectorAll('form')) form.hidden = true;
    find(root, '#paid').hidden = false;
    showTour(3);
  };
  offerWallets(root, {
    verb: 'Pay with',
    failed: 'Nothing was rented.',
    onChosen: async (wallet) => {
      const payment = readChosenPayment(root);
      const session = await connect(root, wallet);
      showTour(2);
      const credential = await session.client.verifyCredential(payment.listingId);
      if (credential.status === 'not_found') {
        await payFirst(root, session, payment);
        end('Done: the rental is paid and works. An agent that gave you this link can go on.');
      } else if (payment.model === 'one_time') {
        end('You have rented this agent already.');
      } else {
        await showExistingRental(root, session, payment.model, end);
      }
    },
  });
}

/** Pays for the first rental of a wallet. */
function payFirst(
  root: HTMLElement,
  session: Session,
  { listingId, model, durationSeconds, depositLamports, priceLamports }: Payment,
): Promise<CredentialVerification> {
  const termsOf = {
    one_time: {},
    subscription: { duration_seconds: durationSeconds },
    per_query: { deposit_lamports: depositLamports },
  } as const;
  const terms = { ...termsOf[model], max_price_lamports: priceLamports };
  return rent(
    session.client,
    session.signer,
    listingId,
    terms,
    announced(root, session, 'it pays for the rental.'),
  );
}
