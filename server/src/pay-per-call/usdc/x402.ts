import { PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import * as z from 'zod';
import type { AuthoritySigner } from '../../chain/index.js';
import type { Payment, PaymentProtocol, PresentedPayment } from '../payment.js';
import { fromBase64 } from '../proofs.js';
import { PaymentRefusal } from '../refusal.js';
import { bazaarOf } from './bazaar.js';
import { readExactPayment } from './exact-payment.js';
import type { IssuedQuote, UsdcQuotes } from './quotes.js';
import { unitsFor, type RateSource } from './rate.js';
import type { UsdcTill } from './till.js';

/** The networks as x402 names them. A local chain has devnet's USDC, so that stock clients pay there. */
const NETWORKS = {
  localnet: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  devnet: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  mainnet: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
} as const;

const VERSION = 2;
/** How long a price is held. */
const QUOTE_SECONDS = 60;
const MOST_HEADER_CHARACTERS = 16_000;
const MOST_PAYLOAD_CHARACTERS = 2_000;
/** The till pays for two signatures of the payer's transaction, and for its priority. The payer bears all of it. */
const MOST_PRIORITY_FEE_LAMPORTS = 5_000n;
const PAYMENT_FEE_LAMPORTS = 10_000n + MOST_PRIORITY_FEE_LAMPORTS;

const IDENTIFIER = 'payment-identifier';
const identifier = z.string().regex(/^[\w-]{16,128}$/);
const payload = z.object({
  x402Version: z.literal(VERSION),
  accepted: z.object({
    scheme: z.literal('exact'),
    network: z.string(),
    extra: z.object({ quote: z.string().max(2_000) }),
  }),
  payload: z.object({ transaction: z.base64().max(MOST_PAYLOAD_CHARACTERS) }),
  extensions: z
    .object({ [IDENTIFIER]: z.object({ info: z.object({ id: identifier.optional() }) }).optional() })
    .nullish(),
});

interface PresentedByX402 extends PresentedPayment {
  quote: IssuedQuote;
  transaction: string;
  identifier: string | undefined;
}

/** Makes x402's way to pay: its version 2 with the scheme `exact`, in USDC. The till settles by itself. */
export function createX402(deps: {
  quotes: UsdcQuotes;
  rate: RateSource;
  usdcTill: Pick<UsdcTill, 'mint' | 'isOpenFor' | 'requireFor'>;
  /** Receives the USDC, and pays for the payer's transaction. */
  till: AuthoritySigner;
  network: keyof typeof NETWORKS;
  /** Where paid calls go. */
  resourceUrl: () => string;
}): PaymentProtocol<PresentedByX402> {
  const { quotes, rate, usdcTill, till, resourceUrl } = deps;
  const network = NETWORKS[deps.network];

  return {
    name: 'x402',

    async challenge({ listing, lamports, priceLamports }, refusal) {
      const priced = await rate();
      if ('missing' in priced || !usdcTill.isOpenFor(lamports)) return undefined;
      const units = unitsFor(lamports + PAYMENT_FEE_LAMPORTS, priced.unitsPerSol);
      const address = till.publicKey.toBase58();
      const expiresMs = Date.now() + QUOTE_SECONDS * 1000;
      const { token, memo } = quotes.issue({
        listingId: listing.id,
        priceLamports,
        lamports,
        units,
        till: address,
        expiresMs,
      });
      const required = {
        x402Version: VERSION,
        error: refusal?.reason ?? 'payment_required',
        resource: { url: resourceUrl(), description: listing.title, mimeType: 'application/json' },
        accepts: [
          {
            scheme: 'exact',
            network,
            amount: String(units),
            asset: usdcTill.mint.toBase58(),
            payTo: address,
            maxTimeoutSeconds: QUOTE_SECONDS,
            extra: { feePayer: address, memo, quote: token },
          },
        ],
        extensions: {
          [IDENTIFIER]: { info: { required: false }, schema: IDENTIFIER_SCHEMA },
          bazaar: bazaarOf(listing.id),
        },
      };
      return { 'PAYMENT-REQUIRED': encode(required) };
    },

    read({ 'payment-signature': header }) {
      if (header === undefined) return undefined;
      const isReadable = typeof header === 'string' && header.length <= MOST_HEADER_CHARACTERS;
      const given = payload.safeParse(isReadable ? fromBase64(header) : undefined);
      if (!given.success) throw new PaymentRefusal('malformed-credential', 'The payment cannot be read.');
      const { accepted, payload: sent, extensions } = given.data;
      if (accepted.network !== network)
        throw new PaymentRefusal('invalid-challenge', 'The payment is for another network.');
      const quote = quotes.read(accepted.extra.quote);
      return {
        signature: undefined,
        challengeId: quote.challengeId,
        listingId: quote.listingId,
        quote,
        transaction: sent.transaction,
        identifier: extensions?.[IDENTIFIER]?.info.id,
      };
    },

    async check({ quote, transaction: encoded, identifier }) {
      if (quote.expiresMs < Date.now() || quote.till !== till.publicKey.toBase58())
        throw new PaymentRefusal('payment-expired', 'The quote of this payment has expired.');
      const { payer, transaction } = readExactPayment(encoded, {
        till: new PublicKey(quote.till),
        mint: usdcTill.mint,
        amount: quote.units,
        memo: quote.memo,
        mostPriorityFeeLamports: MOST_PRIORITY_FEE_LAMPORTS,
      });
      await usdcTill.requireFor(quote.lamports);
      const { message, signatures } = transaction;
      const own = await till.sign(message.serialize());
      const signed = new VersionedTransaction(message, [own, ...signatures.slice(1)]);
      return {
        hasLanded: false,
        payment: {
          signature: bs58.encode(own),
          protocol: 'x402',
          challenge_id: quote.challengeId,
          wallet: payer.toBase58(),
          listing_id: quote.listingId,
          price_lamports: quote.priceLamports,
          lamports: quote.lamports,
          units: quote.units,
          identifier: identifier ?? null,
          signed_bytes: Buffer.from(signed.serialize()),
        },
      };
    },

    receipt: ({ signature, wallet, units }: Payment) => ({
      'PAYMENT-RESPONSE': encode({
        success: true,
        transaction: signature,
        network,
        payer: wallet,
        amount: String(units),
      }),
    }),
  };
}

/** As x402 publishes it. */
const IDENTIFIER_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    required: { type: 'boolean' },
    id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
  },
  required: ['required'],
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');
