import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import type { Served } from './marketplace.js';

/** A plain HTTP answer. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Calls the API over plain HTTP, without a client of this project. */
export async function call(
  { dev }: Served,
  method: string,
  path: string,
  options: {
    token?: string | undefined;
    body?: unknown;
    raw?: string;
    headers?: Record<string, string>;
  } = {},
): Promise<Answer> {
  const headers: Record<string, string> = { ...options.headers };
  if (options.token) headers['authorization'] = `Bearer ${options.token}`;
  const init: RequestInit = { method, headers };
  if (options.body !== undefined || options.raw !== undefined) {
    headers['content-type'] ??= 'application/json';
    init.body = options.raw ?? JSON.stringify(options.body);
  }
  const response = await fetch(dev.base_url + path, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text ? JSON.parse(text) : {}) as Answer['body'],
  };
}

/** The error of an answer that has one. */
export const errorOf = (body: Answer['body']) => body['error'] as Record<string, unknown>;

/** Logs a wallet in by signing a challenge. */
export async function login(
  server: Served,
  wallet: Keypair,
  headers: Record<string, string> = {},
): Promise<string> {
  const address = wallet.publicKey.toBase58();
  const { body } = await call(server, 'GET', `/v1/auth/challenge?wallet=${address}`, { headers });
  const challenge = String(body['challenge']);
  const signature = bs58.encode(nacl.sign.detached(Buffer.from(challenge), wallet.secretKey));
  const answer = await call(server, 'POST', '/v1/auth/token', {
    body: { wallet: address, challenge, signature },
    headers,
  });
  return String(answer.body['token']);
}
