import { operations } from '@agent-rental/contract';
import { verifySignature } from '@agent-rental/ed25519';
import bs58 from 'bs58';
import { randomBytes, randomUUID } from 'node:crypto';

const LIFETIME_SECONDS = 60;

/** The stand-in's login: challenges, or the sign-in messages made of them, signed by a wallet become tokens. */
export class StandInLogin {
  readonly #challenges = new Set<string>();
  readonly #wallets = new Map<string, string>();

  /** Answers the two public operations; `undefined` for every other path. */
  async answer(url: URL, body: unknown): Promise<Response | undefined> {
    if (url.pathname === operations.getChallenge.path) return this.#issue(url);
    if (url.pathname !== operations.createToken.path) return undefined;
    const { wallet, challenge, signature, sign_in_message } = operations.createToken.body.parse(body);
    const isValid =
      (sign_in_message === undefined || isFor(sign_in_message, url.host, wallet, challenge)) &&
      verifySignature({
        signature: bs58.decode(signature),
        message: Buffer.from(sign_in_message ?? challenge),
        publicKey: bs58.decode(wallet),
      });
    if (!isValid || !this.#challenges.delete(challenge)) {
      const error = { code: 'invalid_signature', message: 'The signature does not match.', status: 401 };
      return Response.json({ error }, { status: 401 });
    }
    const token = randomUUID();
    this.#wallets.set(token, wallet);
    return Response.json({ token, expires_at: Math.floor(Date.now() / 1000) + 3_600 });
  }

  #issue(url: URL): Response {
    const { wallet, sign_in } = operations.getChallenge.query.parse(Object.fromEntries(url.searchParams));
    const issuedAt = Math.floor(Date.now() / 1000);
    const nonce = randomBytes(32).toString('hex');
    const challenge = `agent-rental:auth:${issuedAt}:${nonce}`;
    this.#challenges.add(challenge);
    const expires_at = issuedAt + LIFETIME_SECONDS;
    const offer = {
      domain: url.host,
      address: wallet,
      statement: 'Sign in to the stand-in.',
      uri: url.origin,
      version: '1',
      chainId: 'solana:localnet',
      nonce,
      issuedAt: new Date(issuedAt * 1000).toISOString(),
      expirationTime: new Date(expires_at * 1000).toISOString(),
    };
    return Response.json({ challenge, expires_at, ...(sign_in === 'true' ? { sign_in: offer } : {}) });
  }

  /** The wallet of an `Authorization` header with a token that was given here. */
  walletOf(header: string | null): string | undefined {
    return this.#wallets.get(header?.replace(/^Bearer /, '') ?? '');
  }
}

function isFor(message: string, host: string, wallet: string, challenge: string): boolean {
  const head = `${host} wants you to sign in with your Solana account:\n${wallet}\n\n`;
  const nonce = challenge.slice(challenge.lastIndexOf(':') + 1);
  return message.startsWith(head) && message.split('\n').includes(`Nonce: ${nonce}`);
}
