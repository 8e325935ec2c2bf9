import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { KeyRing } from '../service-keys/index.js';
import { fromBase64, isProofOf, proofOf, toBase64Url } from './proofs.js';
import { PaymentRefusal } from './refusal.js';

const METHOD = 'solana';
const INTENT = 'charge';
const SCHEME = /^Payment +([A-Za-z0-9_-]{1,12000})={0,2}$/i;
const NONCE_BYTES = 16;
/** Transactions and signatures, in the encodings of the protocol. */
const MOST_PAYLOAD_CHARACTERS = 2_000;

/** The payment that a caller is asked for. */
interface ChargeRequest {
  lamports: bigint;
  recipient: string;
  network: string;
  recentBlockhash: string;
  listingId: string;
  priceLamports: bigint;
  expires: Date;
}

const chargeRequest = z.object({
  amount: z.string().regex(/^[1-9]\d{0,19}$/),
  currency: z.literal('sol'),
  recipient: z.string(),
  externalId: z.string(),
});
/** The listing, the price of a run in lamports, and a random part. */
const EXTERNAL_ID = /^([^:]{1,64}):(\d{1,20}):[\w-]{22}$/;

const credential = z.object({
  challenge: z.object({
    id: z.string().max(100),
    realm: z.string().max(300),
    method: z.literal(METHOD),
    intent: z.literal(INTENT),
    request: z.string().max(4_000),
    expires: z.iso.datetime(),
  }),
  payload: z.discriminatedUnion('type', [
    z.object({ type: z.literal('transaction'), transaction: z.base64().max(MOST_PAYLOAD_CHARACTERS) }),
    z.object({ type: z.literal('signature'), signature: z.string().max(100) }),
  ]),
});

/** A credential whose challenge is ours. */
export interface MppCredential {
  challengeId: string;
  listingId: string;
  priceLamports: bigint;
  lamports: bigint;
  recipient: string;
  /** The memo that the transaction has to have, which binds it to the challenge. */
  memo: string;
  expires: Date;
  payload: z.infer<typeof credential>['payload'];
}

/** Makes MPP's challenges, and reads the credentials that answer them. Challenges carry their own proof and fill no storage. */
export interface MppChallenges {
  /** The value of `WWW-Authenticate`. */
  issue(request: ChargeRequest): string;
  /** @returns undefined for another scheme. @throws PaymentRefusal for a credential that cannot be read, or is not ours. */
  read(authorization: string | undefined): MppCredential | undefined;
}

/** @param realm the host of the service */
export function createMppChallenges(ring: KeyRing, realm: () => string): MppChallenges {
  return {
    issue({ lamports, recipient, network, recentBlockhash, listingId, priceLamports, expires }) {
      const externalId = `${listingId}:${priceLamports}:${randomBytes(NONCE_BYTES).toString('base64url')}`;
      const request = toBase64Url({
        amount: String(lamports),
        currency: 'sol',
        externalId,
        methodDetails: { network, recentBlockhash },
        recipient,
      });
      const parts = [realm(), METHOD, INTENT, request, expires.toISOString()];
      const id = proofOf(ring, parts.join('|'));
      const [host, method, intent] = parts;
      return `Payment id="${id}", realm="${host}", method="${method}", intent="${intent}", request="${request}", expires="${parts[4]}"`;
    },

    read(authorization) {
      if (authorization === undefined || !/^Payment\b/i.test(authorization)) return undefined;
      const given = credential.safeParse(fromBase64(SCHEME.exec(authorization)?.[1]));
      if (!given.success) throw malformed();
      const { challenge, payload } = given.data;
      const { id, realm: host, method, intent, request, expires } = challenge;
      if (!isProofOf(ring, [host, method, intent, request, expires].join('|'), id))
        throw new PaymentRefusal('invalid-challenge', 'The challenge of this payment is not ours.');
      const asked = chargeRequest.safeParse(fromBase64(request));
      const [, listingId = '', price = ''] = EXTERNAL_ID.exec(asked.data?.externalId ?? '') ?? [];
      if (!asked.success || listingId === '') throw malformed();
      return {
        challengeId: id,
        listingId,
        priceLamports: BigInt(price),
        lamports: BigInt(asked.data.amount),
        recipient: asked.data.recipient,
        memo: asked.data.externalId,
        expires: new Date(expires),
        payload,
      };
    },
  };
}

const malformed = () => new PaymentRefusal('malformed-credential', 'The payment cannot be read.');
