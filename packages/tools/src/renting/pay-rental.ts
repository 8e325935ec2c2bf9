import { isApiError, type CallOptions, type RentalClient } from '@agent-rental/sdk';
import { creatorLine } from '../creator-text.js';
import type { Approve, SpendingRequest } from '../spending/policy.js';
import type { ToolContext } from '../tool-context.js';
import type { PayingWallet, Payment } from './paying-wallet.js';
import {
  quoteRental,
  totalOf,
  type QuotedPayment,
  type RentalQuote,
  type RentalTerms,
} from './rental-quote.js';

const TITLE_LENGTH = 80;

/** A rental as the policy and whoever approves see it. */
export function spendingOfRental({ listing }: RentalQuote, payment: QuotedPayment): SpendingRequest {
  const { max_price_lamports: perTask } = payment.proposal.quote;
  return {
    kind: 'rental',
    agentId: listing.id,
    title: creatorLine(listing.title, TITLE_LENGTH),
    lamports: payment.totalLamports,
    ...(listing.rental_model === 'per_query' && perTask !== undefined ? { maxRunLamports: perTask } : {}),
  };
}

/**
 * Pays for a rental inside the policy.
 *
 * @throws SpendingRefusedError, ApprovalRequiredError: nothing was signed. ApiError, UntrustedTransactionError:
 *   nothing was paid, unless the error's code is `service_unavailable`. ConnectionError: it may have been paid; the
 *   same signed bytes go first the next time, and land at most once.
 */
export async function payRental(
  context: ToolContext,
  wallet: PayingWallet,
  quote: RentalQuote,
  payment: QuotedPayment,
  options: CallOptions & { readonly approve?: Approve | undefined },
): Promise<Payment> {
  const { signal, approve = context.approve } = options;
  const spent = await context.spending?.reserve(
    `rental ${crypto.randomUUID()}`,
    spendingOfRental(quote, payment),
    { approve, signal },
  );
  const { id } = quote.listing;
  try {
    const paid = await wallet.pay(
      rememberingClient(context, id),
      payment.request,
      // The chain's rent and fees may have moved since the quote, and the policy was asked about the quote.
      (again) => totalOf(again) <= payment.totalLamports,
      signal,
    );
    context.unsettled.delete(id);
    context.onRented?.(id);
    return paid;
  } catch (error) {
    if (!context.unsettled.has(id) || isRefusal(error)) {
      context.unsettled.delete(id);
      await spent?.settle(0n);
    }
    throw error;
  }
}

/**
 * Quotes a rental, once it is known what became of an earlier payment for it.
 *
 * @throws ConnectionError or ApiError where that is still not known; as `quoteRental`
 */
export async function quoteSettledRental(
  context: ToolContext,
  agentId: string,
  terms: RentalTerms,
  call: CallOptions,
): Promise<RentalQuote> {
  const quote = await quoteRental(context.client, agentId, terms, call);
  const signed = context.unsettled.get(agentId);
  if (signed === undefined) return quote;
  try {
    // The same bytes: they land at most once, and what has landed is told again.
    if (quote.payment !== undefined) await context.client.submitTransaction(signed, call);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    context.unsettled.delete(agentId);
    return quote;
  }
  context.unsettled.delete(agentId);
  context.onRented?.(agentId);
  return quote.payment === undefined ? quote : quoteRental(context.client, agentId, terms, call);
}

/** Errors of a request that was refused before its transaction was sent, or of a transaction that failed. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_request',
  'insufficient_balance',
  'credential_not_found',
  'credential_expired',
  'listing_paused',
  'listing_not_found',
  'invalid_listing_id',
]);

/**
 * Whether an error says for certain that nothing was paid. One that only refuses to listen, such as a rate limit, may
 * have met the second try of a payment whose first has landed.
 */
function isRefusal(error: unknown): boolean {
  return isApiError(error) && REFUSALS.has(error.code);
}

/** Keeps what was signed until its outcome is known. */
function rememberingClient(context: ToolContext, agentId: string): RentalClient {
  return {
    ...context.client,
    submitTransaction: (transaction, options) => {
      context.unsettled.set(agentId, transaction);
      return context.client.submitTransaction(transaction, options);
    },
  };
}
