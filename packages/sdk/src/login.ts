import { challenge, token } from '@agent-rental/contract';
import bs58 from 'bs58';
import type { z } from 'zod';
import { readChallenge } from './challenge.js';
import { apiErrorFromResponse, unreachable } from './errors.js';
import { signInMessage } from './sign-in-message.js';

/** Signs messages for a wallet: a keypair, or a wallet application. */
export interface MessageSigner {
  /** Wallet address, base58. */
  readonly address: string;
  signMessage(message: Uint8Array): Promise<Uint8Array>;
}

/** Gives the value of the `Authorization` header. */
export interface Authentication {
  header(): Promise<string>;
  /** Called after a 401 with `jwt_expired`; true when another try with a fresh header makes sense. */
  renew(): boolean;
}

/** Authenticates with an API key. */
export function apiKeyAuthentication(apiKey: string): Authentication {
  return { header: async () => `Bearer ${apiKey}`, renew: () => false };
}

/** Renewed this long before it ends, so that no request leaves with a token about to expire. */
const RENEW_BEFORE_MS = 60_000;

/**
 * Authenticates by signing in; keeps the token and logs in again, silently, before it ends. Concurrent requests share
 * one login. What is signed names the domain, so that no service can use it at another.
 *
 * @param http.domain host and port that a sign-in message has to name
 */
export function walletAuthentication(
  signer: MessageSigner,
  http: { baseUrl: string; fetch: typeof fetch; domain: string },
): Authentication {
  let current: Promise<{ header: string; renewAt: number }> | undefined;

  const ask = async <T extends z.ZodType>(answer: T, path: string, init: RequestInit = {}) => {
    let response: Response;
    try {
      response = await http.fetch(`${http.baseUrl}${path}`, init);
      if (response.ok) return answer.parse(await response.json());
    } catch (error) {
      throw unreachable(http.baseUrl, error);
    }
    throw await apiErrorFromResponse(response);
  };

  const login = async (): Promise<{ header: string; renewAt: number }> => {
    const { address: wallet } = signer;
    const query = new URLSearchParams({ wallet, sign_in: 'true' });
    const issued = await ask(challenge, `/v1/auth/challenge?${query}`);
    const known = readChallenge(issued.challenge);
    const message = signInMessage(issued.sign_in, known, { domain: http.domain, wallet });
    const signature = await signer.signMessage(new TextEncoder().encode(message));
    const body = {
      wallet,
      challenge: issued.challenge,
      signature: bs58.encode(signature),
      sign_in_message: message,
    };
    const granted = await ask(token, '/v1/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { header: `Bearer ${granted.token}`, renewAt: granted.expires_at * 1000 - RENEW_BEFORE_MS };
  };

  /** Begins a login that concurrent requests share; a failed one is not kept. */
  const begin = (): Promise<{ header: string; renewAt: number }> => {
    const attempt = login();
    current = attempt;
    attempt.catch(() => {
      if (current === attempt) current = undefined;
    });
    return attempt;
  };

  return {
    header: async () => {
      const attempt = current ?? begin();
      const known = await attempt;
      if (Date.now() < known.renewAt) return known.header;
      // The first call that finds the token expired logs in; the others reuse that login.
      const next = current === attempt ? begin() : (current ?? begin());
      return (await next).header;
    },
    renew: () => {
      current = undefined;
      return true;
    },
  };
}
