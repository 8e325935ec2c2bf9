import { operations, type TransactionQuote, type TransactionRequest } from '@agent-rental/contract';
import { failure, json } from './answers.js';
import type { StandIn, StandInListing } from './stand-in.js';

/** What accounts cost here. */
const RENT_LAMPORTS = 2_000_000;
const FEE_LAMPORTS = 5_000;

/** Transactions of the stand-in: a request and its quote, in base64. */
export interface Payments {
  propose(body: unknown): Response;
  submit(body: unknown): Response;
}

/** Rentals, renewals and top-ups of the stand-in's listings. */
export function createPayments(known: ReadonlyMap<string, StandInListing>, standIn: StandIn): Payments {
  const landed = new Set<string>();
  return {
    propose: (body) => {
      const request = operations.createTransaction.body.parse(body);
      const listing = known.get(request.listing_id);
      if (listing === undefined) return failure('listing_not_found', 'No such listing.');
      const quote = quoteOf(request, listing);
      // A new blockhash makes every proposal another transaction.
      const wire = JSON.stringify({ request, quote, blockhash: crypto.randomUUID() });
      return json(operations.createTransaction, {
        transaction: Buffer.from(wire).toString('base64'),
        message: `${request.action} ${listing.id}`,
        chain: 'solana:localnet',
        payer: '11111111111111111111111111111111',
        blockhash: 'blockhash',
        last_valid_block_height: 150,
        quote,
      });
    },
    submit: (body) => {
      const { transaction } = operations.submitTransaction.body.parse(body);
      const { request, quote } = JSON.parse(Buffer.from(transaction, 'base64').toString()) as {
        request: TransactionRequest;
        quote: TransactionQuote;
      };
      const listing = known.get(request.listing_id);
      if (listing === undefined) return failure('listing_not_found', 'No such listing.');
      if (!landed.has(transaction)) {
        const refusal = standIn.refuseNextPayment;
        standIn.refuseNextPayment = undefined;
        if (refusal !== undefined) return failure('invalid_request', refusal);
        standIn.paid += quote.price_lamports;
        landed.add(transaction);
      }
      listing.rental = 'active';
      if (standIn.loseNextPayment) {
        standIn.loseNextPayment = false;
        throw new TypeError('terminated');
      }
      const credential = { listing_id: listing.id, status: 'active', valid: true, on_chain_verified: true };
      const signature = `signature_${landed.size}`;
      return json(operations.submitTransaction, { signature, listing_id: listing.id, credential });
    },
  };
}

function quoteOf(request: TransactionRequest, listing: StandInListing): TransactionQuote {
  const { rental_model: model = 'per_query', price_lamports: price = 2_000_000 } = listing;
  const { min_deposit_lamports: deposit = 10_000_000 } = listing;
  const fees = { rent_lamports: 0, network_fee_lamports: FEE_LAMPORTS };
  if (request.action === 'topup')
    return { price_lamports: request.amount_lamports, max_price_lamports: price, ...fees };
  const asked = request.action === 'rent' ? request.deposit_lamports : undefined;
  return {
    price_lamports: model === 'per_query' ? (asked ?? deposit) : price,
    max_price_lamports: price,
    ...fees,
    rent_lamports: request.action === 'rent' ? RENT_LAMPORTS : 0,
  };
}

/** What of a client a wallet uses. */
interface PayingClient {
  createTransaction(
    request: TransactionRequest,
  ): Promise<{ readonly transaction: string; readonly quote: TransactionQuote }>;
  submitTransaction(transaction: string): Promise<{ signature: string; listing_id?: string | undefined }>;
}

/** A wallet that pays at the stand-in, whose transactions nobody has to sign. */
export function standInWallet() {
  return {
    address: '11111111111111111111111111111111',
    pay: async (
      client: PayingClient,
      request: TransactionRequest,
      approve: (quote: TransactionQuote) => boolean,
    ) => {
      const { transaction, quote } = await client.createTransaction(request);
      if (!approve(quote)) throw new Error('The quote was not approved.');
      return client.submitTransaction(transaction);
    },
  };
}
