import type { TransactionRequest } from '@agent-rental/contract';
import { ConnectionError, isApiError, type CallOptions, type RentalClient } from '@agent-rental/sdk';
import { creatorLine } from '../text/creator-text.js';
import type { ToolCallOptions } from '../definitions/rented-tool.js';
import { callKey } from '../runs/run-key.js';
import type { SpendingRequest } from '../spending/policy.js';
import type { Reservation } from '../spending/spending.js';
import type { ToolContext } from '../definitions/tool-context.js';
import type { PayingWallet, Payment } from './paying-wallet.js';
import { quoteRental, type QuotedPayment, type RentalQuote, type RentalTerms } from './rental-quote.js';

const TITLE_LENGTH = 80;

/** A rental as a spend, for the policy and for the approving person. */
export function spendingOfRental({ listing }: RentalQuote, { quote }: QuotedPayment): SpendingRequest {
  const { total_lamports: lamports, max_run_lamports: maxRunLamports } = quote;
  return {
    kind: 'rental',
    agentId: listing.id,
    title: creatorLine(listing.title, TITLE_LENGTH),
    lamports,
    ...(maxRunLamports === undefined ? {} : { maxRunLamports }),
  };
}

/**
 * Pays for a rental within the policy. A signed payment stays counted, also if the marketplace reports a refusal: it may still
 * land.
 *
 * @returns undefined if another call has paid meanwhile
 * @throws SpendingRefusedError, ApprovalRequiredError: nothing was signed.
 * @throws ApiError, UntrustedTransactionError: nothing was paid, unless the error's code is `service_unavailable`.
 * @throws ConnectionError: it may have been paid. The next call first sends the same signed bytes, which land at most once.
 */
export async function payRental(
  context: ToolContext,
  wallet: PayingWallet,
  quote: RentalQuote,
  payment: QuotedPayment,
  options: CallOptions & Pick<ToolCallOptions, 'approve' | 'call' | 'idempotencyKey'>,
): Promise<Payment | undefined> {
  const { signal, approve = context.approve } = options;
  const { id } = quote.listing;
  const { request } = payment;
  const key = (await callKey(options, id, request)) ?? crypto.randomUUID();
  const spent = await context.spending?.reserve(moneyOf(request, key), spendingOfRental(quote, payment), {
    approve,
    signal,
    question: `rental ${key}`,
  });
  // One payment at a time for each agent, so that a call with an older quote finds the earlier result.
  const paying = payInTurn(context.paying.get(id));
  context.paying.set(
    id,
    paying.then(
      () => undefined,
      () => undefined,
    ),
  );
  return paying;

  async function payInTurn(before: Promise<void> | undefined): Promise<Payment | undefined> {
    let mayLand = false;
    const signed = (): void => {
      mayLand = true;
    };
    try {
      if (before !== undefined) {
        await before;
        signal?.throwIfAborted();
        if (await isPaid()) return undefined;
      }
      requireFirst(request, spent);
      return await sign(signed);
    } finally {
      if (!mayLand) await spent?.settle(0n);
    }
  }

  /** Whether the call before this one has paid. @throws ConnectionError if this is unknown */
  async function isPaid(): Promise<boolean> {
    if (context.unsettled.has(id)) {
      throw new ConnectionError('Whether another call has paid for the rental is not known yet.');
    }
    return (await context.client.verifyCredential(id, { signal })).valid;
  }

  async function sign(onSigned: () => void): Promise<Payment> {
    const { total_lamports: total, max_run_lamports: perRun } = payment.quote;
    try {
      const client = rememberingClient(context, id, perRun, onSigned);
      const paid = await wallet.pay(client, request, {
        // This transaction is new: it may take at most the approved amount.
        approve: (again) => again.total_lamports <= total && (again.max_run_lamports ?? 0) <= (perRun ?? 0),
        onSigned,
        signal,
        programId: context.programId,
      });
      context.unsettled.delete(id);
      if (perRun !== undefined) await context.spending?.agreedPrices.confirm(id, BigInt(perRun));
      context.onRented?.(id);
      return paid;
    } catch (error) {
      if (isRefusal(error)) context.unsettled.delete(id);
      throw error;
    }
  }
}

/**
 * Returns the spending id of a payment. A wallet can rent a listing once, so all its rent transactions share one id. Each
 * renewal and top-up has a separate id.
 */
function moneyOf({ action, listing_id }: TransactionRequest, key: string): string {
  return action === 'rent' ? `rent ${listing_id}` : `${action} ${listing_id} ${key}`;
}

/** @throws ConnectionError for a repeated call whose first payment has landed or may still land. */
function requireFirst({ action }: TransactionRequest, spent: Reservation | undefined): void {
  if (spent?.isRepeat !== true || action === 'rent') return;
  throw new ConnectionError('This call has signed a payment before. Nothing else was signed for it.');
}

/**
 * Quotes a rental after the outcome of an earlier payment for it is known.
 *
 * @throws ConnectionError or ApiError if the outcome is still unknown; also the errors of `quoteRental`
 */
export async function quoteSettledRental(
  context: ToolContext,
  agentId: string,
  terms: RentalTerms,
  call: CallOptions,
): Promise<RentalQuote> {
  const quote = await quoteRental(context, agentId, terms, call);
  const signed = context.unsettled.get(agentId);
  if (signed === undefined) return quote;
  try {
    // The same bytes land at most once. If they have landed, the marketplace repeats its answer.
    if (quote.payment !== undefined) await context.client.submitTransaction(signed, call);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    context.unsettled.delete(agentId);
    return quote;
  }
  context.unsettled.delete(agentId);
  context.onRented?.(agentId);
  return quote.payment === undefined ? quote : quoteRental(context, agentId, terms, call);
}

/** Errors of a request that was refused before its transaction was sent, or of a failed transaction. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_request',
  'insufficient_balance',
  'credential_not_found',
  'credential_expired',
  'listing_paused',
  'listing_suspended',
  'listing_not_found',
  'invalid_listing_id',
]);

/**
 * Whether an error proves that nothing was paid. A rate limit does not: an earlier attempt of the payment may have landed.
 */
function isRefusal(error: unknown): boolean {
  return isApiError(error) && REFUSALS.has(error.code);
}

/** Keeps a signed payment until its outcome is known, and the payment's agreed price per run. */
function rememberingClient(
  context: ToolContext,
  agentId: string,
  perRun: number | undefined,
  onSigned: () => void,
): RentalClient {
  return {
    ...context.client,
    submitTransaction: async (transaction, options) => {
      onSigned();
      context.unsettled.set(agentId, transaction);
      if (perRun !== undefined) await context.spending?.agreedPrices.note(agentId, BigInt(perRun));
      return context.client.submitTransaction(transaction, options);
    },
  };
}
