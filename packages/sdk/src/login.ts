import { challenge, token, type SignInInput } from '@agent-rental/contract';
import bs58 from 'bs58';
import type { z } from 'zod';
import { readChallenge } from './challenge.js';
import { apiErrorFromResponse, unreachable } from './errors.js';
import { checkedSignIn, signInText } from './sign-in-message.js';

/** Signs messages for a wallet: a keypair, or a wallet application. */
export interface MessageSigner {
  /** Wallet address, base58. */
  readonly address: string;
  signMessage(message: Uint8Array): Promise<Uint8Array>;
  /**
   * Signs in by Sign In With Solana: the wallet writes the message itself and shows its site. Absent: the client writes the
   * message, and {@link MessageSigner.signMessage} signs it.
   */
  signIn?: ((input: SignInInput) => Promise<{ message: Uint8Array; signature: Uint8Array }>) | undefined;
}

/** A login that is kept between clients. The holder of the token acts for the wallet until the token expires. */
export interface KeptLogin {
  /** Wallet address, base58. */
  readonly wallet: string;
  readonly token: string;
  /** Unix seconds. */
  readonly expires_at: number;
}

/** Keeps a login between clients, for instance in the session storage of a browser's tab. */
export interface LoginStore {
  read(): KeptLogin | undefined;
  /** `undefined` removes an ended login. */
  write(login: KeptLogin | undefined): void;
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

interface Bearer {
  header: string;
  /** Milliseconds since 1970. */
  renewAt: number;
}

/** The client renews a token this long before its end, so that no request has a token about to expire. */
const RENEW_BEFORE_MS = 60_000;

/**
 * Authenticates by a wallet's login. Keeps the token, and logs in again, silently, before it expires. Concurrent requests
 * share one login. The signed text names the domain, so that no service can use it at another one.
 *
 * @param http.domain host and port that a sign-in message must name
 * @param store keeps the login. The client ignores a stored login of another wallet, or one about to expire
 */
export function walletAuthentication(
  signer: MessageSigner,
  http: { baseUrl: string; fetch: typeof fetch; domain: string },
  store?: LoginStore,
): Authentication {
  const kept = store?.read();
  let current =
    kept?.wallet === signer.address && isLasting(kept) ? Promise.resolve(bearerOf(kept)) : undefined;

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

  const login = async (): Promise<Bearer> => {
    const { address: wallet } = signer;
    const query = new URLSearchParams({ wallet, sign_in: 'true' });
    const issued = await ask(challenge, `/v1/auth/challenge?${query}`);
    const known = readChallenge(issued.challenge);
    const asked = checkedSignIn(issued.sign_in, known, { domain: http.domain, wallet });
    const { message, signature } = await signInWith(signer, asked);
    const body = {
      wallet,
      challenge: issued.challenge,
      signature: bs58.encode(signature),
      sign_in_message: new TextDecoder().decode(message),
    };
    const granted = await ask(token, '/v1/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    store?.write({ wallet, ...granted });
    return bearerOf(granted);
  };

  /** Starts a login that concurrent requests share. A failed login is not kept. */
  const begin = (): Promise<Bearer> => {
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
      store?.write(undefined);
      return true;
    },
  };
}

const bearerOf = ({ token: bearer, expires_at }: Omit<KeptLogin, 'wallet'>): Bearer => ({
  header: `Bearer ${bearer}`,
  renewAt: expires_at * 1000 - RENEW_BEFORE_MS,
});

/** Whether a kept login is valid for long enough. */
const isLasting = (kept: KeptLogin): boolean => Date.now() < bearerOf(kept).renewAt;

async function signInWith(
  signer: MessageSigner,
  asked: SignInInput,
): Promise<{ message: Uint8Array; signature: Uint8Array }> {
  if (signer.signIn) return signer.signIn(asked);
  const message = new TextEncoder().encode(signInText(asked));
  return { message, signature: await signer.signMessage(message) };
}
