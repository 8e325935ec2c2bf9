import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type JWTHeaderParameters } from 'jose';

/** A key with which a client proves that a token is its own (DPoP). */
export interface ProofKey {
  /** Makes a proof by hand, so that each claim may be wrong; an undefined claim is left out. */
  prove(
    request: { method: string; url: string; token?: string },
    changes?: Record<string, unknown>,
    header?: Partial<JWTHeaderParameters>,
  ): Promise<string>;
}

/** Makes a new key. */
export async function newProofKey(alg = 'ES256'): Promise<ProofKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const jwk = await exportJWK(publicKey);
  return {
    prove({ method, url, token }, changes = {}, header = {}) {
      const ath = token === undefined ? undefined : createHash('sha256').update(token).digest('base64url');
      const iat = Math.floor(Date.now() / 1000);
      return new SignJWT({ jti: randomUUID(), htm: method, htu: url, iat, ath, ...changes })
        .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk, ...header })
        .sign(privateKey);
    },
  };
}
