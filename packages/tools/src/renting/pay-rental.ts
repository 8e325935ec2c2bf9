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

/** A rental as the policy and a person who approves see it. */
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
 * Pays for a rental inside the policy. A signed payment stays counted, also when the marketplace says that it was
 * refused: it cannot be known here that it will not land.
 *
 * @returns undefined where another call has paid for it meanwhile
 * @throws SpendingRefusedError, ApprovalRequiredError: nothing was signed. ApiError, UntrustedTransactionError:
 *   nothing was paid, unless the error's code is `service_unavailable`. ConnectionError: it may have been paid; the
 *   same signed bytes go first the next time, and land at most once.
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
  // One after the other for each agent, so that a call with an older quote finds the result of the one before.
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

  /** Whether the call before this one has paid. @throws ConnectionError where that is not known */
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
        // This is not the transaction that was approved: it may take at most the same amount.
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
 * Returns the spending id of a payment. A wallet can rent a listing once, so all transactions that rent it share one id.
 * Renewals and top-ups each have their own.
 */
function moneyOf({ action, listing_id }: TransactionRequest, key: string): string {
  return action === 'rent' ? `rent ${listing_id}` : `${action} ${listing_id} ${key}`;
}

/** @throws ConnectionError for a repeated call whose first payment may land yet, or has. */
function requireFirst({ action }: TransactionRequest, spent: Reservation | undefined): void {
  if (spent?.isRepeat !== true || action === 'rent') return;
  throw new ConnectionError('This call has signed a payment before. Nothing else was signed for it.');
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
  const quote = await quoteRental(context, agentId, terms, call);
  const signed = context.unsettled.get(agentId);
  if (signed === undefined) return quote;
  try {
    // The same bytes land at most once; if they have landed, the marketplace gives the same answer again.
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
 * Whether an error shows that nothing was paid. A rate limit does not show it: the first attempt of the payment may have
 * landed before the refused one.
 */
function isRefusal(error: unknown): boolean {
  return isApiError(error) && REFUSALS.has(error.code);
}

/** Keeps a signed payment until its outcome is known, and the price per run that it agrees to. */
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
