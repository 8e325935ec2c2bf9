import { formatSol, RENTAL_TERMS } from '@agent-rental/contract';
import { close, pause, resume, update } from '@agent-rental/sdk/solana';
import { lamportsOf } from '../payment.js';
import { find, findInput, work } from '../wallets.js';
import { respondTo } from '../events.js';
import { findForm } from '../fields.js';
import type { ShownAgent } from './shown-agent.js';
import { announced } from '../signing.js';
import { readField } from '../wrong-field.js';

const typedSol = (lamports: number) => formatSol(lamports).replace(' SOL', '');

/** Changes the price of a published agent, pauses, resumes and closes it: each is a transaction that the wallet signs. */
export function offerSale({ root, session, agent, listing, refresh }: ShownAgent): void {
  const { listing_id: id, status } = agent;
  if (listing === undefined) return;
  const { client, signer } = session;
  const isPrepaid = RENTAL_TERMS[listing.rental_model].isPrepaid;
  const price = findInput(root, '[data-path=price]');
  const deposit = findInput(root, '[data-path=deposit]');
  price.value = typedSol(listing.price_lamports);
  deposit.value = typedSol(listing.min_deposit_lamports);
  find(root, '#deposit-field').hidden = !isPrepaid;
  respondTo(findForm(root, '#price-form'), 'submit', () =>
    work(root, 'The price was not changed.', async () => {
      const price_lamports = readField(price, lamportsOf);
      const changes = {
        price_lamports,
        ...(isPrepaid ? { min_deposit_lamports: readField(deposit, lamportsOf) } : {}),
      };
      const what = `it sets the price of ${id} to ${formatSol(price_lamports)}.`;
      await update(client, signer, id, changes, announced(root, session, what));
      await refresh(`The price is ${formatSol(price_lamports)} now.`);
    }),
  );
  const pauseButton = find(root, '#pause');
  const resumeButton = find(root, '#resume');
  pauseButton.hidden = status !== 'active';
  resumeButton.hidden = status !== 'paused';
  respondTo(pauseButton, 'click', () =>
    work(root, 'It was not paused.', async () => {
      await pause(client, signer, id, announced(root, session, `it pauses ${id}.`));
      await refresh('It is paused: it runs nothing and cannot be rented until it is resumed.');
    }),
  );
  respondTo(resumeButton, 'click', () =>
    work(root, 'It was not resumed.', async () => {
      await resume(client, signer, id, announced(root, session, `it resumes ${id}.`));
      await refresh('It is active again.');
    }),
  );
  respondTo(findForm(root, '#close-form'), 'submit', () =>
    work(root, 'It was not closed.', async () => {
      await close(client, signer, id, announced(root, session, `it closes ${id} for ever.`));
      await refresh('It is closed for ever; its earnings are in your wallet.');
    }),
  );
}
