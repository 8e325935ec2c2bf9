import { operations } from '@agent-rental/contract';
import { createPublicKey, randomUUID, verify } from 'node:crypto';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** DER header of an ed25519 public key. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** The stand-in's login: challenges signed by a wallet become tokens. */
export class StandInLogin {
  readonly #challenges = new Set<string>();
  readonly #tokens = new Set<string>();

  /** Answers the two public operations; `undefined` for every other path. */
  async answer(url: URL, body: unknown): Promise<Response | undefined> {
    const expires_at = Math.floor(Date.now() / 1000) + 3_600;
    if (url.pathname === operations.getChallenge.path) {
      const challenge = `agent-rental:auth:0:${randomUUID()}`;
      this.#challenges.add(challenge);
      return Response.json({ challenge, expires_at });
    }
    if (url.pathname !== operations.createToken.path) return undefined;
    const { wallet, challenge, signature } = operations.createToken.body.parse(body);
    const key = createPublicKey({
      key: Buffer.concat([SPKI_PREFIX, fromBase58(wallet, 32)]),
      format: 'der',
      type: 'spki',
    });
    const signed = verify(null, Buffer.from(challenge), key, fromBase58(signature, 64));
    if (!signed || !this.#challenges.delete(challenge)) {
      const error = { code: 'invalid_signature', message: 'The signature does not match.', status: 401 };
      return Response.json({ error }, { status: 401 });
    }
    const token = randomUUID();
    this.#tokens.add(token);
    return Response.json({ token, expires_at });
  }

  /** Whether an `Authorization` header is the API key or a token given here. */
  knows(header: string | null, apiKey: string): boolean {
    const bearer = header?.replace(/^Bearer /, '') ?? '';
    return bearer === apiKey || this.#tokens.has(bearer);
  }
}

function fromBase58(text: string, length: number): Buffer {
  let value = 0n;
  for (const character of text) value = value * 58n + BigInt(BASE58.indexOf(character));
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex');
}
