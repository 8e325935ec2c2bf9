import type { Network } from '@agent-rental/contract';
import { Keypair } from '@solana/web3.js';
import { BLOCKHASH, listingId } from './proposals.js';

const recipient = Keypair.generate().publicKey.toBase58();

/** The service's statement about itself. */
export const NETWORK: Network = {
  network: 'localnet',
  program_id: recipient,
  genesis_hash: 'x',
  rpc_url: null,
  protocol_account: recipient,
  payment_recipient: recipient,
  fee_bps: 250,
  min_query_price_lamports: 200_000,
  unserved_tools: [],
};

/** The memo of the challenge. */
export const MEMO = `${listingId}:250000:2sE6fE_M3LFJwFnFLNqKdg`;

/** Parts of a challenge that a service may change. */
export interface Lie {
  params?: Record<string, string | undefined>;
  request?: object;
  details?: object;
}

/** `WWW-Authenticate` of a 402, made without the code under test: 1,000,000 lamports, or a lie. */
export function paymentChallenge({ params = {}, request = {}, details = {} }: Lie = {}): string {
  const methodDetails = { network: 'localnet', recentBlockhash: BLOCKHASH, ...details };
  const asked = {
    amount: '1000000',
    currency: 'sol',
    externalId: MEMO,
    methodDetails,
    recipient,
    ...request,
  };
  const all: Record<string, string | undefined> = {
    id: 'o8nwOfLd',
    realm: 'market.example',
    method: 'solana',
    intent: 'charge',
    request: Buffer.from(JSON.stringify(asked)).toString('base64url'),
    expires: new Date(Date.now() + 30_000).toISOString(),
    ...params,
  };
  const list = Object.entries(all).filter(([, value]) => value !== undefined);
  return `Payment ${list.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

/** The transaction in a value of `Authorization`, and the challenge that goes back. */
export function readCredential(authorization: string): {
  challenge: Record<string, string>;
  wire: Uint8Array;
} {
  const [, encoded = ''] = /^Payment ([\w-]+)$/.exec(authorization) ?? [];
  const { challenge, payload } = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as {
    challenge: Record<string, string>;
    payload: { type: 'transaction'; transaction: string };
  };
  return { challenge, wire: new Uint8Array(Buffer.from(payload.transaction, 'base64')) };
}
