import type { JsonObject } from '@agent-rental/contract';
import { creatorLine } from '../text/creator-text.js';
import type { ToolContext } from '../definitions/tool-context.js';
import { priceFacts, type QuotedPayment, type RentalQuote } from './rental-quote.js';

/** Validity of a link's price. */
const LINK_MS = 15 * 60_000;

/** The warning before a payment for an unverified agent. */
const UNVERIFIED =
  'Its creator published this agent although the marketplace could not reach it, and no run of it has succeeded yet.';

/** The facts for a person who pays for a rental: a link, the price, and on request the transaction to sign. */
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
    expires_at: new Date(now() + (transaction ? proposal.sign_within_seconds * 1000 : LINK_MS)).toISOString(),
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
      ? 'Have the wallet sign the unchanged transaction, then call rent_listing with it as signed_transaction.'
      : "Give the link to this wallet's owner. After the payment, the agent works with run_agent at once.",
  };
}

/** The page on which a person rents an agent, with the maximum total. */
function rentUrl(publicUrl: string, listingId: string, totalLamports: number): string {
  const url = new URL(`/dashboard/rent/${encodeURIComponent(listingId)}`, publicUrl);
  url.searchParams.set('max_total_lamports', String(totalLamports));
  return url.href;
}
