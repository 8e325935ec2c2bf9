import { z } from 'zod';
import { base58Signature, walletAddress } from './primitives.js';

/** Prefix of an API key, by network. */
export const API_KEY_PREFIX = { devnet: 'ark_dev_', mainnet: 'ark_live_' } as const;

/** Answer of `GET /v1/auth/challenge`: the string to sign, valid for 60 seconds. */
export const challenge = z.object({ challenge: z.string(), expires_at: z.int() }).meta({ id: 'Challenge' });

/** Body of `POST /v1/auth/token`: the challenge's UTF-8 bytes, signed by the wallet. */
export const tokenRequest = z
  .strictObject({ wallet: walletAddress, challenge: z.string().max(200), signature: base58Signature })
  .meta({ id: 'TokenRequest' });

/** Answer of `POST /v1/auth/token`: a JWT, valid for one hour. */
export const token = z.object({ token: z.string(), expires_at: z.int() }).meta({ id: 'Token' });

/**
 * Body of `POST /v1/api-keys`. The wallet signs `apiKeyMessage(label, challenge)`, with a challenge got for
 * this purpose, so that a stolen bearer token alone cannot make a key that never expires.
 */
export const createApiKeyBody = z
  .strictObject({
    label: z
      .string()
      .min(1)
      .max(100)
      .regex(/^\P{Cc}*$/u, 'holds a control character'),
    challenge: z.string().max(200),
    signature: base58Signature,
  })
  .meta({ id: 'CreateApiKey' });

/** Answer of `POST /v1/api-keys`. The key is shown here and never again. */
export const createdApiKey = z
  .object({ id: z.string(), label: z.string(), key: z.string(), created_at: z.iso.datetime() })
  .meta({ id: 'CreatedApiKey' });

/** The text that a wallet signs to create an API key. */
export function apiKeyMessage(label: string, challengeText: string): string {
  return `agent-rental: create API key "${label}"\n${challengeText}`;
}
