import { createHash } from 'node:crypto';
import { RENTAL_TERMS, type ExecuteBody } from '@agent-rental/contract';
import type { IncomingHttpHeaders } from 'node:http';
import { ownerOf, type Owner } from '../access/owner.js';
import type { Principal } from '../access/principal.js';
import { apiErrorOfTransaction, type Chain, type Funds } from '../chain/index.js';
import { indexedStatusOf } from '../credentials/index.js';
import { ApiError } from '../errors/api-error.js';
import type { ListingService, PublishedListing } from '../listings/index.js';
import type { NewPayment, Payment, PaymentProtocol, PresentedPayment } from './payment.js';
import type { PaymentRepository } from './payment-repository.js';
import { quoteOf, type FundingCosts } from './quote.js';
import { PaymentRefusal } from './refusal.js';
import type { Settler } from './settle.js';

/** A payment that was taken, as the caller of a request. */
export interface PaidCaller {
  principal: Principal;
  /** One payment begins one run. */
  idempotencyKey: string;
  /** The headers of its receipt. */
  receipt: Record<string, string>;
}

/** Asks for payments and takes them. */
export interface PayPerCall {
  /**
   * The headers of a 402 for a call of a listing.
   *
   * @param wallet the caller's, where it is known: with a rental of the listing it pays less
   * @param refusal of the payment of this request
   * @returns undefined where the listing is not sold by the call
   */
  offer(
    listingId: unknown,
    wallet: string | undefined,
    refusal?: PaymentRefusal,
  ): Promise<Record<string, string> | undefined>;
  /** The same; also undefined where the wallet has a rental that pays for the call. */
  offerUnrented(listingId: unknown, wallet: string): Promise<Record<string, string> | undefined>;
  /** Whether a request carries a payment of any protocol. @throws PaymentRefusal for one that cannot be read. */
  isPaid(headers: IncomingHttpHeaders): boolean;
  /**
   * Takes the payment of a call, once, and waits until it is the payer's balance.
   *
   * @param address of the caller, whose new payments are counted
   * @throws PaymentRefusal where nothing was taken; ApiError where the payment was taken or may be
   */
  take(headers: IncomingHttpHeaders, body: ExecuteBody, address: string): Promise<PaidCaller>;
  /** The caller that a payment of an earlier call shows. @throws PaymentRefusal for one that is not known. */
  recall(headers: IncomingHttpHeaders): Promise<PaidCaller>;
}

export function createPayPerCall(deps: {
  /** In the order in which they are offered. */
  protocols: readonly PaymentProtocol[];
  listings: Pick<ListingService, 'find' | 'findFor'>;
  payments: Pick<PaymentRepository, 'find' | 'findByChallenge'>;
  settler: Pick<Settler, 'receive' | 'settle'>;
  costs: FundingCosts;
  chain: Pick<Chain, 'preflight' | 'latestBlockhash' | 'programId'>;
  funds: Pick<Funds, 'requireForCharge'>;
  /** Refuses a request that no run of the listing takes. @throws ApiError */
  requireRunnable(owner: Owner, listing: PublishedListing, body: ExecuteBody): Promise<void>;
  /** Counts a new payment of an address. @throws ApiError `rate_limit_exceeded` */
  countNew(address: string): Promise<void>;
}): PayPerCall {
  const { protocols, listings, payments, settler, costs, chain, funds } = deps;

  function readPayment(headers: IncomingHttpHeaders) {
    for (const protocol of protocols) {
      const presented = protocol.read(headers);
      if (presented) return { protocol, presented };
    }
    return undefined;
  }

  const findPresented = ({ signature, challengeId }: PresentedPayment) =>
    signature === undefined ? payments.findByChallenge(challengeId) : payments.find(signature);

  async function sold(listingId: unknown): Promise<PublishedListing | undefined> {
    if (typeof listingId !== 'string') return undefined;
    const listing = await listings.find(listingId).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) return undefined;
      throw error;
    });
    if (listing?.status !== 'active') return undefined;
    return RENTAL_TERMS[listing.rentalModel].isSoldByCall ? listing : undefined;
  }

  async function statusOf(wallet: string, listingId: string) {
    const { listing, rental } = await listings.findFor(ownerOfWallet(wallet), listingId);
    return indexedStatusOf(listing, rental).status;
  }

  /** Refuses a payment that could not become a balance, before it is sent. */
  async function requireSale(payment: Omit<NewPayment, 'last_valid_block_height'>, body: ExecuteBody) {
    const listing = await sold(payment.listing_id);
    if (!listing)
      throw new PaymentRefusal('invalid-challenge', 'The listing is not sold by the call any more.');
    if (listing.priceLamports > payment.price_lamports)
      throw new PaymentRefusal('payment-insufficient', 'The price of the listing has risen.');
    if ((await statusOf(payment.wallet, listing.id)) === 'revoked')
      throw new ApiError('credential_not_found', 'The rental of this wallet was revoked. Nothing was taken.');
    await deps.requireRunnable(ownerOfWallet(payment.wallet), listing, body);
    funds.requireForCharge();
  }

  /** Records a new payment, once all about it is right. Returns the signature of the recorded one. */
  async function receive(
    protocol: PaymentProtocol,
    presented: PresentedPayment,
    body: ExecuteBody,
    address: string,
  ): Promise<string> {
    await deps.countNew(address);
    const { payment, hasLanded } = await protocol.check(presented);
    const latest = chain.latestBlockhash(true);
    latest.catch(() => undefined);
    // Money that has landed is never refused: it becomes a balance, or goes back.
    if (!hasLanded) {
      await requireSale(payment, body);
      const failure = await chain.preflight(payment.signed_bytes);
      if (failure && !isKnown(failure.error)) {
        const { reason } = apiErrorOfTransaction(failure.error, failure.logs, chain.programId);
        throw new PaymentRefusal(
          'verification-failed',
          `The transaction of this payment would fail. ${reason}`,
        );
      }
    }
    const { lastValidBlockHeight } = await latest;
    const last = BigInt(lastValidBlockHeight) + NEWER_BLOCKS;
    return settler.receive({ ...payment, last_valid_block_height: last });
  }

  async function offer(
    listingId: unknown,
    wallet: string | undefined,
    { isForAll, refusal }: { isForAll: boolean; refusal?: PaymentRefusal | undefined },
  ) {
    const listing = await sold(listingId);
    if (!listing) return undefined;
    const status = wallet === undefined ? 'not_found' : await statusOf(wallet, listing.id);
    if (status === 'revoked' || (status === 'active' && !isForAll)) return undefined;
    const quote = await quoteOf(listing, status !== 'not_found', costs);
    const offered = await Promise.all(protocols.map((protocol) => protocol.challenge(quote, refusal)));
    return Object.assign({}, ...offered) as Record<string, string>;
  }

  const callerOf = (protocol: PaymentProtocol, payment: Payment): PaidCaller => ({
    principal: principalOf(payment),
    idempotencyKey: `payment-${payment.signature}`,
    receipt: protocol.receipt(payment),
  });

  return {
    offer: (listingId, wallet, refusal) => offer(listingId, wallet, { isForAll: true, refusal }),
    offerUnrented: (listingId, wallet) => offer(listingId, wallet, { isForAll: false }),

    isPaid: (headers) => readPayment(headers) !== undefined,

    async take(headers, body, address) {
      const { protocol, presented } = required(readPayment(headers));
      if (presented.listingId !== body.agent_id)
        throw new PaymentRefusal('invalid-challenge', 'The challenge of this payment is of another listing.');
      const known = await findPresented(presented);
      if (known) requireSame(known, presented);
      const payment = await settler.settle(
        known?.signature ?? (await receive(protocol, presented, body, address)),
      );
      if (isBalance(payment)) return callerOf(protocol, payment);
      switch (payment.state) {
        case 'refunded':
          throw new ApiError('listing_not_found', 'The listing takes no payment any more.', {
            next: `The payment went back to ${payment.wallet}, less the network's fee, by ${payment.transfer_signature}.`,
          });
        default:
          throw new PaymentRefusal(
            'verification-failed',
            'The transaction of this payment did not take effect.',
          );
      }
    },

    async recall(headers) {
      const { protocol, presented } = required(readPayment(headers));
      const payment = await findPresented(presented);
      if (!payment || !isBalance(payment)) throw unknownPayment();
      requireSame(payment, presented);
      return callerOf(protocol, payment);
    },
  };
}

const ownerOfWallet = (wallet: string): Owner => ownerOf({ wallet, rateKey: '' });

/** Whether a simulation refuses a transaction because the chain has it already. */
const isKnown = (error: unknown): boolean => error === 'AlreadyProcessed';

/** A payer may sign over the blockhash of a block that the service does not count yet. */
const NEWER_BLOCKS = 32n;

/** Whether a payment has become a balance of its payer. */
const isBalance = ({ state, transfer_kind: kind }: Payment): boolean =>
  state === 'funded' || (state === 'lost' && kind === 'fund');

/** A transaction pays one challenge. */
function requireSame(payment: Payment, { challengeId }: PresentedPayment): void {
  if (payment.challenge_id !== challengeId)
    throw new PaymentRefusal(
      'verification-failed',
      'The transaction of this payment paid another challenge.',
    );
}

function required<T>(found: T | undefined): T {
  if (found === undefined) throw unknownPayment();
  return found;
}

const unknownPayment = () => new PaymentRefusal('invalid-challenge', 'The payment is not known.');

/** The caller of a paid run. As with an API key, it sees the run that it began and nothing else of the wallet. */
function principalOf({ wallet, signature }: Payment): Principal {
  const hex = createHash('sha256').update(`payment ${signature}`).digest('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return { wallet, rateKey: `wallet:${wallet}`, apiKey: { id, scopes: ['run'], policy: null } };
}
