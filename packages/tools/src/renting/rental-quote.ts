import {
  RENTAL_TERMS,
  solFromLamports,
  type CredentialVerification,
  type JsonObject,
  type Listing,
  type TransactionProposal,
  type TransactionRequest,
} from '@agent-rental/contract';
import type { CallOptions } from '@agent-rental/sdk';
import type { DecodedQuote } from '@agent-rental/sdk/solana';
import type { ToolContext } from '../definitions/tool-context.js';

/** Terms that a caller may choose. Default: the listing's terms. */
export interface RentalTerms {
  /** Per-Task: the deposit, or the addition to a low balance. */
  readonly depositLamports?: number | undefined;
  /** Subscription: its duration. Default 2,592,000, which is 30 days. */
  readonly durationSeconds?: 2_592_000 | 7_776_000 | 31_536_000 | undefined;
}

/** The quote of a rental. An active rental needs no payment. */
export interface RentalQuote {
  readonly listing: Listing;
  readonly credential: CredentialVerification;
  /** Absent if no payment is needed. */
  readonly payment?: QuotedPayment;
}

/** A transaction that rents, renews or tops up, and its cost for the wallet. */
export interface QuotedPayment {
  /** The request with all amounts fixed, so that no higher amount can be signed. */
  readonly request: TransactionRequest;
  readonly proposal: TransactionProposal;
  /** The maximum cost for the wallet, decoded from the transaction, not from the quote. */
  readonly quote: DecodedQuote;
}

const DAYS_30_SECONDS = 2_592_000;

/**
 * Quotes the payment for an agent's rental: a rental, a renewal, or a top-up. An active rental needs no payment, so renting
 * twice never pays twice.
 *
 * @throws ApiError, ConnectionError
 * @throws UntrustedTransactionError if the transaction differs from the request or from the marketplace's quote
 */
export async function quoteRental(
  { client, inspect, programId }: Pick<ToolContext, 'client' | 'inspect' | 'programId'>,
  agentId: string,
  terms: RentalTerms,
  call: CallOptions,
): Promise<RentalQuote> {
  const [listing, credential] = await Promise.all([
    client.getListing(agentId, call),
    client.verifyCredential(agentId, call),
  ]);
  if (credential.valid) return { listing, credential };
  const asked = requestFor(listing, credential, terms);
  const proposal = await client.createTransaction(asked, call);
  const quote = await inspect(proposal, asked, programId);
  return { listing, credential, payment: { request: withAmounts(asked, quote), proposal, quote } };
}

/** A payment's price in a tool's result. */
export function priceFacts({ quote }: QuotedPayment): JsonObject {
  const { price_lamports, rent_lamports, network_fee_lamports, total_lamports, max_run_lamports } = quote;
  const isPerTask = max_run_lamports !== undefined;
  return {
    total_lamports,
    total_sol: solFromLamports(BigInt(total_lamports)),
    ...(isPerTask ? { deposit_lamports: price_lamports } : { price_lamports }),
    account_rent_lamports: rent_lamports,
    network_fee_lamports,
    ...(isPerTask ? { per_task_lamports: max_run_lamports } : {}),
  };
}

function requestFor(
  listing: Listing,
  { status, balance_lamports: balance = 0 }: CredentialVerification,
  { depositLamports, durationSeconds = DAYS_30_SECONDS }: RentalTerms,
): TransactionRequest {
  const listing_id = listing.id;
  switch (status) {
    case 'low_balance': {
      // A sufficient balance needs only a higher agreed price.
      const enough = balance >= listing.price_lamports ? 0 : listing.min_deposit_lamports;
      return { action: 'topup', listing_id, amount_lamports: depositLamports ?? enough };
    }
    case 'expired':
      return { action: 'renew', listing_id, duration_seconds: durationSeconds };
    case 'active':
    case 'suspended':
    case 'not_found':
      return {
        action: 'rent',
        listing_id,
        ...(RENTAL_TERMS[listing.rental_model].expires ? { duration_seconds: durationSeconds } : {}),
        ...(RENTAL_TERMS[listing.rental_model].isPrepaid && depositLamports !== undefined
          ? { deposit_lamports: depositLamports }
          : {}),
      };
    default:
      return status satisfies never;
  }
}

/** The request with the transaction's amounts as maximum prices. */
function withAmounts(request: TransactionRequest, quote: DecodedQuote): TransactionRequest {
  const { max_price_lamports, max_run_lamports, price_lamports } = quote;
  return {
    ...request,
    max_price_lamports,
    ...(request.action === 'rent' && max_run_lamports !== undefined
      ? { deposit_lamports: price_lamports }
      : {}),
  } as TransactionRequest;
}
