import {
  operations,
  RENTAL_TERMS,
  renewalOf,
  renewalRefusal,
  SUBSCRIPTION_DURATIONS_SECONDS,
  type RentalModel,
  type Refusal,
  type Renewal,
  type TransactionQuote,
  type TransactionRequest,
  type TransactionRequestOf,
} from '@agent-rental/contract';
import type { TransactionInstruction, VersionedMessage } from '@solana/web3.js';
import { failure, json } from './answers.js';
import type { StandInListing } from './listing.js';

/** The rent of a rental's accounts, and the network's fee for a signature. */
export const STAND_IN_LAMPORTS = { credentialRent: 1_753_920, balanceRent: 2_129_760, networkFee: 5_000 };

/** The remaining days of an active subscription at the stand-in. */
const DAYS_LEFT = 29;

/** A placeholder account: the stand-in has no chain. */
const TREASURY = 'SysvarRent111111111111111111111111111111111';

/** The paid lamports, and the faults of the next payment. */
export interface PaymentState {
  /** Lamports paid for rentals, deposits and top-ups so far. */
  paid: number;
  /** Loses the answer to the next payment; the payment is still made. */
  loseNextPayment: boolean;
  /** Refuses the next payment with this message. */
  refuseNextPayment: string | undefined;
}

/** Transactions of the stand-in's listings: real ones, of which only the chain is missing. */
interface Payments {
  propose(body: unknown, wallet: string): Promise<Response>;
  submit(body: unknown): Promise<Response>;
}

/** Loaded with the first payment: most tests make none. */
const loadChain = async () => ({
  ...(await import('@solana/web3.js')),
  ...(await import('@agent-rental/program-client')),
});
type Chain = Awaited<ReturnType<typeof loadChain>>;

/** Rentals, renewals and top-ups of the stand-in's listings. */
export function createPayments(known: ReadonlyMap<string, StandInListing>, state: PaymentState): Payments {
  const landed = new Set<string>();

  /** The listing that a transaction pays for, and how much. */
  function paymentOf(chain: Chain, message: VersionedMessage): { listing: StandInListing; lamports: number } {
    const keys = message.staticAccountKeys;
    for (const { data, accountKeyIndexes } of message.compiledInstructions) {
      const accounts = accountKeyIndexes.map((index) => keys[index] ?? chain.PublicKey.default);
      const decoded = chain.decodeInstruction(data, accounts);
      const listing = [...known.values()].find(({ id }) =>
        decoded?.accounts['listing']?.equals(chain.findListingAddress(id).address),
      );
      if (!decoded || !listing) continue;
      const { depositLamports, amountLamports, durationSeconds } = decoded.args;
      const prepaid = depositLamports ?? amountLamports;
      const windows = Number(durationSeconds ?? SUBSCRIPTION_DURATIONS_SECONDS[0]);
      const lamports = prepaid === undefined ? priceOf(listing, windows) : Number(prepaid);
      return { listing, lamports };
    }
    throw new TypeError('The transaction pays for none of the listings.');
  }

  return {
    propose: async (body, wallet) => {
      const request = operations.createTransaction.body.parse(body);
      const listing = known.get(request.listing_id);
      if (listing === undefined) return failure('listing_not_found', 'No such listing.');
      const chain = await loadChain();
      const refusal = refusalOf(request, listing);
      if (refusal !== undefined) return failure('invalid_request', refusal);
      const quote = quoteOf(request, listing);
      const payer = new chain.PublicKey(wallet);
      // A new blockhash makes every proposal another transaction.
      const blockhash = chain.Keypair.generate().publicKey.toBase58();
      const message = new chain.TransactionMessage({
        payerKey: payer,
        recentBlockhash: blockhash,
        instructions: [instructionOf(chain, wallet, request, listing, quote)],
      });
      const transaction = new chain.VersionedTransaction(message.compileToV0Message());
      return json(operations.createTransaction, {
        transaction: Buffer.from(transaction.serialize()).toString('base64'),
        message: `${request.action} ${listing.id}`,
        chain: 'solana:localnet',
        payer: wallet,
        blockhash,
        last_valid_block_height: 150,
        sign_within_seconds: 20,
        quote,
      });
    },
    submit: async (body) => {
      const { transaction } = operations.submitTransaction.body.parse(body);
      const chain = await loadChain();
      const { message } = chain.VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
      const { listing, lamports } = paymentOf(chain, message);
      if (!landed.has(transaction)) {
        const refusal = state.refuseNextPayment;
        state.refuseNextPayment = undefined;
        if (refusal !== undefined) return failure('invalid_request', refusal);
        state.paid += lamports;
        landed.add(transaction);
      }
      listing.rental = 'active';
      if (state.loseNextPayment) {
        state.loseNextPayment = false;
        throw new TypeError('terminated');
      }
      const credential = { listing_id: listing.id, status: 'active', valid: true, on_chain_verified: true };
      const signature = `signature_${landed.size}`;
      return json(operations.submitTransaction, { signature, listing_id: listing.id, credential });
    },
  };
}

/** The price of a listing, once or for a window. */
function priceOf(
  { price_lamports: price = 2_000_000, rental_model = 'per_query' }: StandInListing,
  seconds: number,
): number {
  return RENTAL_TERMS[rental_model].expires ? (price * seconds) / SUBSCRIPTION_DURATIONS_SECONDS[0] : price;
}

function quoteOf(request: TransactionRequest, listing: StandInListing): TransactionQuote {
  const { rental_model: model = 'per_query', min_deposit_lamports: deposit = 10_000_000 } = listing;
  const { credentialRent, balanceRent, networkFee } = STAND_IN_LAMPORTS;
  const fees = { rent_lamports: 0, network_fee_lamports: networkFee };
  const seconds = 'duration_seconds' in request ? request.duration_seconds : undefined;
  const price = priceOf(listing, seconds ?? SUBSCRIPTION_DURATIONS_SECONDS[0]);
  const named = 'max_price_lamports' in request ? request.max_price_lamports : undefined;
  const max_price_lamports = named ?? price;
  switch (request.action) {
    case 'topup':
      return { price_lamports: request.amount_lamports, max_price_lamports, ...fees };
    case 'rent':
      return RENTAL_TERMS[model].isPrepaid
        ? {
            ...fees,
            price_lamports: request.deposit_lamports ?? deposit,
            max_price_lamports,
            rent_lamports: credentialRent + balanceRent,
          }
        : { ...fees, price_lamports: price, max_price_lamports, rent_lamports: credentialRent };
    case 'renew':
      return { ...fees, price_lamports: price, max_price_lamports, ...renewalIn(request, listing) };
    default:
      return { ...fees, price_lamports: price, max_price_lamports };
  }
}

/** The effect of a renewal. An active subscription has {@link DAYS_LEFT} days left. */
function renewalIn(
  { duration_seconds: durationSeconds }: TransactionRequestOf<'renew'>,
  { rental }: StandInListing,
): Renewal {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const expiresAtSeconds = rental === 'expired' ? null : nowSeconds + DAYS_LEFT * 86_400;
  return renewalOf({ nowSeconds, expiresAtSeconds, durationSeconds });
}

function refusalOf(request: TransactionRequest, listing: StandInListing): Refusal | undefined {
  if (request.action !== 'renew') return undefined;
  return renewalRefusal(renewalIn(request, listing), request.duration_seconds, request.early);
}

function instructionOf(
  chain: Chain,
  wallet: string,
  request: TransactionRequest,
  { rental_model: model = 'per_query' }: StandInListing,
  quote: TransactionQuote,
): TransactionInstruction {
  const treasury = new chain.PublicKey(TREASURY);
  const renter = {
    buyer: new chain.PublicKey(wallet),
    listingId: request.listing_id,
    maxPriceLamports: BigInt(quote.max_price_lamports ?? 0),
  };
  const durationSeconds =
    ('duration_seconds' in request ? request.duration_seconds : undefined) ??
    SUBSCRIPTION_DURATIONS_SECONDS[0];
  const purchaseOf: Record<RentalModel, () => TransactionInstruction> = {
    one_time: () => chain.purchaseOneTime({ ...renter, treasury }),
    subscription: () => chain.purchaseSubscription({ ...renter, treasury, durationSeconds }),
    per_query: () => chain.purchasePerQuery({ ...renter, depositLamports: BigInt(quote.price_lamports) }),
  };
  switch (request.action) {
    case 'rent':
      return purchaseOf[model]();
    case 'renew':
      return chain.renewSubscription({ ...renter, treasury, durationSeconds });
    case 'topup':
      return chain.topupBalance({ ...renter, amountLamports: BigInt(request.amount_lamports) });
    default:
      throw new TypeError(`The stand-in has no transaction for ${request.action}.`);
  }
}
