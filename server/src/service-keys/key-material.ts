import { createHash, createPublicKey, randomBytes } from 'node:crypto';
import { ed25519PrivateKey } from '../platform/keys.js';
import { KEY_PURPOSES, type KeyPurposeName } from './purposes.js';

const KEY_BYTES = 32;
/** Characters of the name of a key that has no public part. */
const NAME_CHARACTERS = 22;

/** A key, with its public properties. */
export interface KeyMaterial {
  /** Names it: the thumbprint (RFC 7638) of its public part, else a hash. Nothing can be derived from it. */
  readonly kid: string;
  /** 32 bytes: the seed of an Ed25519 key, or the key of an HMAC. */
  readonly secret: Buffer;
  /** The 32 bytes of the public part; null where there is none. */
  readonly publicKey: Buffer | null;
}

/** Makes a key of a purpose. @param secret default: random */
export function keyMaterial(purpose: KeyPurposeName, secret: Buffer = randomBytes(KEY_BYTES)): KeyMaterial {
  if (KEY_PURPOSES[purpose].kind === 'secret') {
    const digest = createHash('sha256').update('agent-rental/key-name/v1/').update(secret);
    return { kid: digest.digest('base64url').slice(0, NAME_CHARACTERS), secret, publicKey: null };
  }
  const { x = '' } = createPublicKey(ed25519PrivateKey(secret)).export({ format: 'jwk' });
  return { kid: thumbprintOf(x), secret, publicKey: Buffer.from(x, 'base64url') };
}

/** The thumbprint (RFC 7638) of an Ed25519 key: its fields in this order. @param x in base64url */
function thumbprintOf(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
}

/** Binds a sealed key to its row. */
export function serviceKeyContext(purpose: string, number: number): string {
  return `service-key:${purpose}:${number}`;
}
