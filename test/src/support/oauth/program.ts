import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import { importJWK, SignJWT, type JWTHeaderParameters } from 'jose';
import type { Served } from '../marketplace.js';
import { postForm, type OAuthAnswer } from './app.js';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The key of a wallet as a JWK, as clients of OAuth take it. */
export function jwkOf({ secretKey, publicKey }: Keypair) {
  const [d, x] = [secretKey.slice(0, 32), publicKey.toBytes()].map((bytes) =>
    Buffer.from(bytes).toString('base64url'),
  );
  return { kty: 'OKP', crv: 'Ed25519', d: d ?? '', x: x ?? '' };
}

/** Makes an assertion by hand, so that each claim may be wrong; an undefined claim is left out. */
export async function assertionOf(
  { dev }: Served,
  wallet: Keypair,
  changes: Record<string, unknown> = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const address = wallet.publicKey.toBase58();
  const claims = {
    iss: address,
    sub: address,
    aud: dev.base_url,
    iat: now,
    exp: now + 60,
    jti: randomUUID(),
  };
  const key = await importJWK(jwkOf(wallet), 'EdDSA');
  return new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'EdDSA', ...header }).sign(key);
}

/** Asks for a token with an assertion; a null parameter is left out. */
export function logInWith(
  served: Served,
  assertion: string,
  changes: Record<string, string | null> = {},
  headers: Record<string, string> = {},
): Promise<OAuthAnswer> {
  return postForm(
    served,
    '/oauth/token',
    {
      grant_type: 'client_credentials',
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: assertion,
      ...changes,
    },
    headers,
  );
}
