import {
  addsTooLittle,
  formatAdded,
  formatSol,
  type CredentialVerification,
  type RentalModel,
  type TransactionRequest,
} from '@agent-rental/contract';
import { inspectProposal, renew, topUp, type DecodedQuote } from '@agent-rental/sdk/solana';
import { element, momentOf } from './elements.js';
import { readChosenPayment, type Payment } from './payment.js';
import { announced } from './signing.js';
import { find, say, work, type Session } from './wallets.js';

const DAY_SECONDS = 86_400;

/** A renewal or top-up that the page offers, with its cost and its effect. */
interface Offer {
  text: string;
  /** The words of the button that pays. */
  button: string;
  pay(): Promise<string>;
}

/**
 * Shows a subscription or a prepaid balance that the wallet has already, and offers a renewal or top-up. Only a separate
 * button pays, so that a repeated press of "Pay with" pays nothing.
 *
 * @param onPaid gets the final status text
 */
export async function showExistingRental(
  root: HTMLElement,
  session: Session,
  model: keyof typeof OFFERS,
  onPaid: (text: string) => void,
): Promise<void> {
  const shown = find(root, '#existing');
  let newest = 0;
  const show = async (): Promise<void> => {
    const turn = ++newest;
    shown.replaceChildren();
    const payment = readChosenPayment(root);
    const credential = await session.client.verifyCredential(payment.listingId);
    const { text, button, pay } = await OFFERS[model](root, session, payment, credential);
    // A later choice shows a later offer.
    if (turn !== newest) return;
    const onClick = () =>
      work(root, 'The payment was not confirmed.', async () => {
        try {
          onPaid(await pay());
        } catch (error) {
          // It may have landed. The next press pays for the rental of that moment.
          await show().catch(() => undefined);
          throw error;
        }
      });
    shown.replaceChildren(element('p', { text }), element('button', { text: button, onClick }));
    say(root, '');
  };
  await show();
  // The costs of a first rental do not arise again.
  for (const part of document.querySelectorAll<HTMLElement>('[data-first-rental]')) part.hidden = true;
  find(root, '.wallets').hidden = true;
  for (const field of root.querySelectorAll('#duration, #deposit')) {
    field.addEventListener('change', () => work(root, 'Nothing was paid.', show));
  }
}

async function renewalOffer(
  root: HTMLElement,
  session: Session,
  { listingId, durationSeconds, priceLamports }: Payment,
  { expired_at: expiredAt }: CredentialVerification,
): Promise<Offer> {
  const terms = { duration_seconds: durationSeconds, max_price_lamports: priceLamports };
  const quote = await quoteOf(session, { action: 'renew', listing_id: listingId, ...terms, early: true });
  const { new_expires_at: end = '', added_seconds: added = 0 } = quote;
  const present = expiredAt ?? new Date(Date.parse(end) - added * 1000).toISOString();
  const early = addsTooLittle(added, durationSeconds);
  return {
    text:
      `Your rental ${expiredAt === undefined ? 'ends' : 'ended'} on ${momentOf(present)}. ` +
      `${durationSeconds / DAY_SECONDS} days from now move the end to ` +
      `${momentOf(end)}, and add ${formatAdded(added, durationSeconds)}. ${costOf(quote)}`,
    button: early
      ? `Pay ${formatSol(priceLamports)} for ${formatAdded(added, durationSeconds)}`
      : `Renew for ${formatSol(priceLamports)}`,
    pay: async () => {
      const options = announced(root, session, 'it renews your rental.');
      await renew(session.client, session.signer, listingId, early ? { ...terms, early } : terms, options);
      return `Done: the rental is renewed until ${momentOf(end)}.`;
    },
  };
}

async function topUpOffer(
  root: HTMLElement,
  session: Session,
  { listingId, depositLamports, priceLamports }: Payment,
  { balance_lamports: balance = 0 }: CredentialVerification,
): Promise<Offer> {
  const terms = { amount_lamports: depositLamports, max_price_lamports: priceLamports };
  const quote = await quoteOf(session, { action: 'topup', listing_id: listingId, ...terms });
  const after = formatSol(balance + depositLamports);
  return {
    text:
      `You have rented this agent, and your balance is ${formatSol(balance)}. ` +
      `A top-up of ${formatSol(depositLamports)} makes it ${after}. ${costOf(quote)}`,
    button: `Top up by ${formatSol(depositLamports)}`,
    pay: async () => {
      await topUp(session.client, session.signer, listingId, terms, announced(root, session, 'it tops up.'));
      return `Done: ${formatSol(depositLamports)} were added to your balance.`;
    },
  };
}

const OFFERS = {
  subscription: renewalOffer,
  per_query: topUpOffer,
} as const satisfies Record<Exclude<RentalModel, 'one_time'>, unknown>;

/** The checked quote of a request, for showing it. Nothing is signed. */
async function quoteOf({ client, signer }: Session, request: TransactionRequest): Promise<DecodedQuote> {
  const proposal = await client.createTransaction(request);
  return inspectProposal(proposal, request, signer.address, { programId: client.programId }).quote;
}

function costOf({ total_lamports: total, network_fee_lamports: fee }: DecodedQuote): string {
  return `It costs ${formatSol(total)} in all, with the network’s fee of ${formatSol(fee)}, and no deposit to the network.`;
}
