import { setTimeout as wait } from 'node:timers/promises';
import { verifySignature } from '@agent-rental/ed25519';
import type { PublicKey } from '@solana/web3.js';
import { Agent, request } from 'undici';
import * as z from 'zod';
import { ApiError } from '../../errors/api-error.js';
import { createDeadline } from '@agent-rental/contract';
import type { AuthoritySigner } from './keypair-signer.js';

const TIMEOUT_MS = 5_000;
/** Attempts, and the pause before each further one. */
const PAUSES_MS = [0, 200, 600];
const MOST_ANSWER_BYTES = 4_096;
const SIGNATURE_BYTES = 64;

const answerBody = z.object({
  signature: z.base64().transform((text) => Buffer.from(text, 'base64')),
});

/** Why no signature came; `again` where another attempt may help. */
class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly again: boolean;

  constructor(message: string, again: boolean, cause?: unknown) {
    super(message, { cause });
    this.again = again;
  }
}

/**
 * A signer behind HTTP, such as a key management service, so that the key is not on this machine. The protocol is in
 * docs/keys.md: `POST {message, public_key}` with a bearer token, answered by `{signature}`. A signature counts
 * only once it was verified against the public key.
 *
 * @param timeoutMs of each of three attempts
 */
export function createHttpSigner(options: {
  url: string;
  token: string;
  publicKey: PublicKey;
  timeoutMs?: number;
  pausesMs?: readonly number[];
}): AuthoritySigner {
  const { url, token, publicKey, timeoutMs = TIMEOUT_MS, pausesMs = PAUSES_MS } = options;
  const dispatcher = new Agent({ maxResponseSize: MOST_ANSWER_BYTES });
  const key = publicKey.toBytes();

  async function attempt(message: Uint8Array): Promise<Uint8Array> {
    const deadline = createDeadline(timeoutMs);
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher,
        signal: deadline.signal,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({
          message: Buffer.from(message).toString('base64'),
          public_key: publicKey.toBase58(),
        }),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) {
        const again = answer.statusCode >= 500 || answer.statusCode === 429;
        throw new SignerError(`it answered with status ${answer.statusCode}`, again);
      }
      return readSignature(text);
    } catch (cause) {
      if (cause instanceof SignerError) throw cause;
      throw new SignerError(deadline.isOver ? 'it took too long' : 'it cannot be reached', true, cause);
    } finally {
      deadline.clear();
    }
  }

  return {
    publicKey,
    async sign(message) {
      let failure: unknown;
      for (const pauseMs of pausesMs) {
        if (pauseMs > 0) await wait(pauseMs);
        try {
          const signature = await attempt(message);
          if (!verifySignature({ message, signature, publicKey: key })) {
            throw new SignerError('its signature is not of this message by the authority', false);
          }
          return signature;
        } catch (error) {
          failure = error;
          if (error instanceof SignerError && !error.again) break;
        }
      }
      throw new ApiError('service_unavailable', 'The service cannot sign at the moment.', {
        next: 'Try again.',
        retryAfterSeconds: 5,
        cause: new Error(`The authority's signer failed: ${(failure as Error).message}.`, { cause: failure }),
      });
    },
  };
}

/** @throws SignerError for an answer of another form. */
function readSignature(text: string): Uint8Array {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new SignerError('its answer is not JSON', false);
  }
  const parsed = answerBody.safeParse(body);
  if (!parsed.success || parsed.data.signature.length !== SIGNATURE_BYTES) {
    throw new SignerError('its answer holds no signature', false);
  }
  return parsed.data.signature;
}
