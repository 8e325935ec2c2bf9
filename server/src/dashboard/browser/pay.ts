import { formatSol } from '@agent-rental/contract';
import { renew, rent, topUp, type DecodedQuote } from '@agent-rental/sdk/solana';
import type { Wallet } from '@wallet-standard/base';
import { readPayment, type Payment } from './payment.js';
import { sayAgain } from './signing.js';
import { connect, find, offerWallets, say, type Session } from './wallets.js';

/**
 * Pays for a rental with a wallet of this browser. The sdk checks the transaction before it asks the wallet: the
 * transaction must match this page and take no more.
 */
export function offerPayment(root: HTMLElement): void {
  // Enter in the deposit would reload the page, and it chooses no wallet.
  root.querySelector('form')?.addEventListener('submit', (event) => event.preventDefault());
  offerWallets(root, {
    verb: 'Pay with',
    failed: 'Nothing was rented.',
    onChosen: async (wallet) => {
      say(root, await pay(root, wallet));
      // A second press would pay again.
      for (const form of root.querySelectorAll('form')) form.hidden = true;
      find(root, '#paid').hidden = false;
    },
  });
}

/** Logs in, checks and signs the transaction, and returns the final status text. */
async function pay(root: HTMLElement, wallet: Wallet): Promise<string> {
  const [window] = root.querySelector<HTMLSelectElement>('#duration')?.selectedOptions ?? [];
  const payment = readPayment(root.dataset, {
    deposit: root.querySelector<HTMLInputElement>('#deposit')?.value,
    window: window && { seconds: window.value, priceLamports: window.dataset['price'] },
  });
  const session = await connect(root, wallet);
  const { status } = await session.client.verifyCredential(payment.listingId);
  if (payment.model === 'one_time' && status === 'active') return 'You have rented this agent already.';
  const approve = (quote: DecodedQuote) => {
    say(
      root,
      `${session.name} asks you to sign: at most ${formatSol(quote.total_lamports)} leave your wallet.`,
    );
    return true;
  };
  const onSignAgain = () => sayAgain(root, session.name);
  await send(session, payment, status === 'not_found', { approve, onSignAgain });
  return 'Done: the rental is paid and works. An agent that gave you this link can go on.';
}

function send(
  { client, signer }: Session,
  payment: Payment,
  isNew: boolean,
  options: { approve: (quote: DecodedQuote) => boolean; onSignAgain: () => void },
): Promise<unknown> {
  const { listingId, model, priceLamports: max_price_lamports } = payment;
  switch (model) {
    case 'one_time':
      return rent(client, signer, listingId, { max_price_lamports }, options);
    case 'subscription': {
      const terms = { duration_seconds: payment.durationSeconds, max_price_lamports };
      return (isNew ? rent : renew)(client, signer, listingId, terms, options);
    }
    case 'per_query': {
      const { depositLamports } = payment;
      return isNew
        ? rent(client, signer, listingId, { deposit_lamports: depositLamports, max_price_lamports }, options)
        : topUp(client, signer, listingId, { amount_lamports: depositLamports, max_price_lamports }, options);
    }
    default:
      return model satisfies never;
  }
}
