import type { IncomingHttpHeaders } from 'node:http';
import type { Selectable } from 'kysely';
import type { Database } from '../database/schema.js';
import type { PublishedListing } from '../listings/index.js';
import type { PaymentRefusal } from './refusal.js';

/** A recorded payment. */
export type Payment = Selectable<Database['payments']>;

/** A payment that was verified and is not recorded yet. */
export type NewPayment = Pick<
  Payment,
  | 'signature'
  | 'protocol'
  | 'challenge_id'
  | 'wallet'
  | 'listing_id'
  | 'price_lamports'
  | 'lamports'
  | 'last_valid_block_height'
  | 'units'
  | 'identifier'
> & { signed_bytes: Buffer };

/** The till's transaction that makes a payment a balance, or returns it. */
export interface Transfer {
  kind: 'fund' | 'refund';
  signature: string;
  signedBytes: Buffer;
  lastValidBlockHeight: bigint;
  /** The payer's part: in its balance, or returned. */
  lamports: bigint;
  /** The same in USDC, where that is returned. */
  units: bigint | null;
  rentLamports: bigint;
  feeLamports: bigint;
}

/** The cost of a call of a listing. */
export interface Quote {
  listing: PublishedListing;
  /** All that the payer sends. */
  lamports: bigint;
  /** The price of one run, which is part of it. */
  priceLamports: bigint;
}

/** A payment in a request, read and not verified yet. */
export interface PresentedPayment {
  /** Undefined where the till has yet to sign the transaction. */
  signature: string | undefined;
  challengeId: string;
  listingId: string;
}

/** A protocol by which callers pay: its wire format, and its check of a transaction. */
export interface PaymentProtocol<P extends PresentedPayment = PresentedPayment> {
  readonly name: Payment['protocol'];
  /**
   * The headers of a 402 that ask for a payment. Undefined where the protocol is not offered now.
   *
   * @param refusal of the payment of this request
   */
  challenge(quote: Quote, refusal?: PaymentRefusal): Promise<Record<string, string> | undefined>;
  /**
   * Reads the payment of a request, without any call outside.
   *
   * @returns undefined where the request has none of this protocol
   * @throws PaymentRefusal
   */
  read(headers: IncomingHttpHeaders): P | undefined;
  /**
   * Decodes the payment's transaction. It has to pay the amount of its challenge, and nothing else may be in it.
   *
   * @throws PaymentRefusal
   */
  check(presented: P): Promise<{
    payment: Omit<NewPayment, 'last_valid_block_height'>;
    /** The transaction is on the chain. */
    hasLanded: boolean;
  }>;
  /** The headers that tell of a payment that was taken. */
  receipt(payment: Payment): Record<string, string>;
}
