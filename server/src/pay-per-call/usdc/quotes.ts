import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { KeyRing } from '../../service-keys/index.js';
import { fromBase64, isProofOf, proofOf, toBase64Url } from '../proofs.js';
import { PaymentRefusal } from '../refusal.js';

const MAC_DOMAIN = 'x402.';
const NONCE_BYTES = 12;
const TOKEN = /^([\w-]{1,1000})\.([\w-]{43})$/;

const amount = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);
const quoted = z.object({
  listing: z.string(),
  price: amount,
  lamports: amount,
  units: amount,
  till: z.string(),
  nonce: z.string(),
  expires: z.int(),
});

/** A price in USDC that is held for a while. */
interface UsdcQuote {
  listingId: string;
  /** The price of a run. */
  priceLamports: bigint;
  /** The worth of the payment in SOL. */
  lamports: bigint;
  /** The payment in USDC: 1,000,000 units are one. */
  units: bigint;
  /** The wallet that is paid. */
  till: string;
  /** When the price ends, in milliseconds since 1970. */
  expiresMs: number;
}

/** A quote that is ours. */
export interface IssuedQuote extends UsdcQuote {
  /** Known to the payer and to us alone. */
  challengeId: string;
  /** The memo that the transaction has to have. It is public. */
  memo: string;
}

/** Quotes carry their own proof, and fill no storage. */
export interface UsdcQuotes {
  /** A quote, and its text for the payer to send back. */
  issue(quote: UsdcQuote): { token: string; memo: string };
  /** @throws PaymentRefusal for a text that is not ours */
  read(token: string): IssuedQuote;
}

export function createUsdcQuotes(ring: KeyRing): UsdcQuotes {
  return {
    issue({ listingId, priceLamports, lamports, units, till, expiresMs }) {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url');
      const text = toBase64Url({
        listing: listingId,
        price: String(priceLamports),
        lamports: String(lamports),
        units: String(units),
        till,
        nonce,
        expires: expiresMs,
      });
      const mac = proofOf(ring, MAC_DOMAIN + text);
      return { token: `${text}.${mac}`, memo: memoOf(listingId, nonce) };
    },

    read(token) {
      const [, text = '', challengeId = ''] = TOKEN.exec(token) ?? [];
      if (!isProofOf(ring, MAC_DOMAIN + text, challengeId))
        throw new PaymentRefusal('invalid-challenge', 'The quote of this payment is not ours.');
      const { listing, price, nonce, expires, ...rest } = quoted.parse(fromBase64(text));
      return {
        ...rest,
        listingId: listing,
        priceLamports: price,
        expiresMs: expires,
        challengeId,
        memo: memoOf(listing, nonce),
      };
    },
  };
}

const memoOf = (listingId: string, nonce: string): string => `${listingId}:${nonce}`;
