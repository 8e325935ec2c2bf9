import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** PKCS#8 header of an Ed25519 private key (RFC 8410), before the 32 bytes of the seed. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The keys that protect stored data, and the first keys for issued tokens and receipts. All derive from the master
 * key.
 */
export interface Keys {
  /** Encrypts for storage (AES-256-GCM). `context` binds the ciphertext to its place: a row cannot be moved. */
  seal(plain: Uint8Array | string, context: string): Buffer;
  /** Reverses {@link Keys.seal}; throws when the ciphertext or its context was changed. */
  open(sealed: Uint8Array, context: string): Buffer;
  /** Whether the present key sealed it, and no other. */
  isSealedByPresent(sealed: Uint8Array, context: string): boolean;
  /** 32 bytes for another purpose. They reveal neither the master key nor the bytes of other purposes. */
  derive(purpose: string): Buffer;
  /** Tells whether a database was written with this master key; it opens nothing. */
  readonly check: Buffer;
}

/** The private key of an Ed25519 seed, for OpenSSL: it signs in a twentieth of the time that JavaScript takes. */
export function ed25519PrivateKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });
}

/** Keys that seal stored data in place of the master key. */
export interface SealingKeys {
  /** Seals from now on; absent: the master key's own. */
  present?: Uint8Array | undefined;
  /** Further keys, which only open, while a key is rotated. */
  others?: readonly Uint8Array[] | undefined;
}

/** Derives the keys (HKDF-SHA256, RFC 5869), one per purpose. */
export function deriveKeys(masterKey: Uint8Array, { present, others = [] }: SealingKeys = {}): Keys {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(), `agent-rental/${purpose}/v1`, 32));
  const sealing = (key: Uint8Array) =>
    Buffer.from(hkdfSync('sha256', key, new Uint8Array(), 'agent-rental/storage/v1', 32));
  const storage = sealing(present ?? masterKey);
  const openers = [storage, ...others.map(sealing)];
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', storage, nonce).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      for (const [index, key] of openers.entries()) {
        try {
          return openWith(key, bytes, context);
        } catch (error) {
          if (index === openers.length - 1) throw error;
        }
      }
      throw new Error('There is no key to open with.');
    },
    isSealedByPresent(sealed, context) {
      try {
        openWith(storage, Buffer.from(sealed), context);
        return true;
      } catch {
        return false;
      }
    },
    derive,
    check: derive('check'),
  };
}

function openWith(key: Buffer, bytes: Buffer, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
