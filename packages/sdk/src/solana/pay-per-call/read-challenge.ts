import { walletAddress, type Network } from '@agent-rental/contract';
import * as z from 'zod';
import type { AskedPayment } from '../../call-payments.js';
import { UntrustedTransactionError } from '../verify/untrusted-transaction.js';

const MOST_CHARACTERS = 12_000;
/** MPP's names of networks. */
const NETWORKS: Readonly<Record<Network['network'], string>> = {
  localnet: 'localnet',
  devnet: 'devnet',
  mainnet: 'mainnet-beta',
};

const params = z.strictObject({
  id: z.string().min(1),
  realm: z.string(),
  method: z.literal('solana'),
  intent: z.literal('charge'),
  request: z.base64url(),
  expires: z.iso.datetime(),
});

/** Strict: a field that is not known could ask for more, for instance a split or another payer of the fee. */
const chargeRequest = z.strictObject({
  amount: z.string().regex(/^[1-9]\d{0,17}$/),
  currency: z.literal('sol'),
  externalId: z.string().max(200),
  methodDetails: z.strictObject({ network: z.string(), recentBlockhash: walletAddress }),
  recipient: walletAddress,
});

/** A payment that agrees with the call and with the service's statements. */
export interface ReadPayment {
  /** The challenge's parameters, which go back with the payment. */
  params: z.infer<typeof params>;
  lamports: bigint;
  recipient: string;
  memo: string;
  blockhash: string;
}

/** Reads the challenge of a 402, and compares it with the call. @throws UntrustedTransactionError `challenge` */
export function readPaymentChallenge({ challenge, listingId, network }: AskedPayment): ReadPayment {
  const given = params.safeParse(paramsOf(challenge));
  if (!given.success) throw refuse('is not a charge in SOL that can be read');
  if (Date.parse(given.data.expires) <= Date.now()) throw refuse('has expired');
  const request = chargeRequest.safeParse(fromBase64Url(given.data.request));
  if (!request.success) throw refuse('is not a charge in SOL that can be read');
  const { amount, externalId, methodDetails, recipient } = request.data;
  if (methodDetails.network !== NETWORKS[network.network])
    throw refuse(`is of the network ${methodDetails.network}, and the service is on ${network.network}`);
  if (recipient !== network.payment_recipient)
    throw refuse(`pays ${recipient}, and the service names ${network.payment_recipient}`);
  if (!externalId.startsWith(`${listingId}:`)) throw refuse('is of another listing');
  return {
    params: given.data,
    lamports: BigInt(amount),
    recipient,
    memo: externalId,
    blockhash: methodDetails.recentBlockhash,
  };
}

/** The parameters of the one challenge in a header. */
function paramsOf(header: string): Record<string, string> | undefined {
  const [, list] = /^Payment +(.+)$/.exec(header.slice(0, MOST_CHARACTERS)) ?? [];
  if (list === undefined || !/^\w+="[^"\\]*"(?:, *\w+="[^"\\]*")*$/.test(list)) return undefined;
  const pairs = [...list.matchAll(/(\w+)="([^"\\]*)"/g)].map(([, name = '', value = '']) => [name, value]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function fromBase64Url(text: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
      character.charCodeAt(0),
    );
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

const refuse = (what: string) =>
  new UntrustedTransactionError('challenge', `answers a challenge that ${what}`);
