import type { JsonObject } from '@agent-rental/contract';
import { creatorLine } from '../text/creator-text.js';
import type { ToolContext } from '../definitions/tool-context.js';
import { priceFacts, type QuotedPayment, type RentalQuote } from './rental-quote.js';

/** How long a link is offered at its price. */
const LINK_MS = 15 * 60_000;
/** How long the chain takes a transaction's blockhash: 150 slots of 0.4 s. */
const TRANSACTION_MS = 60_000;

/** The warning before a payment for an agent that nothing has reached yet. */
const UNVERIFIED =
  'Its creator published this agent although the marketplace could not reach it, and no run of it has succeeded yet.';

/** The facts that a person needs to pay for a rental: a link, the price, and, if it is asked for, the transaction to sign. */
export function rentOffer(
  { publicUrl }: Pick<ToolContext, 'publicUrl'>,
  { listing }: RentalQuote,
  payment: QuotedPayment,
  { transaction = false, now = Date.now }: { transaction?: boolean; now?: () => number } = {},
): JsonObject {
  const { proposal } = payment;
  return {
    agent_id: listing.id,
    title: creatorLine(listing.title, 120),
    rented: false,
    rent_url: rentUrl(publicUrl, listing.id, payment.quote.total_lamports),
    price: priceFacts(payment),
    ...(listing.unverified_since === undefined ? {} : { warning: UNVERIFIED }),
    expires_at: new Date(now() + (transaction ? TRANSACTION_MS : LINK_MS)).toISOString(),
    ...(transaction
      ? {
          transaction: {
            transaction: proposal.transaction,
            payer: proposal.payer,
            chain: proposal.chain,
            last_valid_block_height: proposal.last_valid_block_height,
          },
        }
      : {}),
    next: transaction
      ? 'Have the wallet sign the transaction as it is, then call rent_listing with it as signed_transaction.'
      : "Give the link to this wallet's owner. Once it is paid, the agent works with run_agent at once.",
  };
}

/** The page on which a person rents an agent, for at most so much. */
function rentUrl(publicUrl: string, listingId: string, totalLamports: number): string {
  const url = new URL(`/dashboard/rent/${encodeURIComponent(listingId)}`, publicUrl);
  url.searchParams.set('max_total_lamports', String(totalLamports));
  return url.href;
}
