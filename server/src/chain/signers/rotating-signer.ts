import type { PublicKey } from '@solana/web3.js';
import type { AuthoritySigner } from './keypair-signer.js';

const PUBLIC_KEY_BYTES = 32;

/** A signer with the present and the next key, for the time of a rotation. */
export interface RotatingSigner extends AuthoritySigner {
  /** The keys of the signer, the next one first. */
  readonly publicKeys: readonly PublicKey[];
  /** Tells which keys the program accepts: new transactions name the next key as soon as it is one of them. */
  accept(authorities: readonly PublicKey[]): void;
}

/**
 * Makes one of the configured signers. A message is signed by the key that it names, so that one that was built
 * before a change stays valid.
 *
 * @param next the key that takes over once the program accepts it
 */
export function createRotatingSigner(present: AuthoritySigner, next?: AuthoritySigner): RotatingSigner {
  if (next === undefined) {
    const { publicKey } = present;
    return {
      publicKey,
      publicKeys: [publicKey],
      sign: (message) => present.sign(message),
      accept: () => undefined,
    };
  }
  let chosen = present;
  const signers = [next, present];
  return {
    get publicKey() {
      return chosen.publicKey;
    },
    publicKeys: signers.map(({ publicKey }) => publicKey),
    sign: (message) => (signers.find(({ publicKey }) => names(message, publicKey)) ?? chosen).sign(message),
    accept(authorities) {
      chosen = signers.find(({ publicKey }) => authorities.some((key) => key.equals(publicKey))) ?? present;
    },
  };
}

/**
 * Whether a version 0 message asks for a key's signature. After the version and three counts come the number of keys, one
 * byte below 128, and the keys. Signers come first.
 */
function names(message: Uint8Array, key: PublicKey): boolean {
  const signers = message[1] ?? 0;
  const bytes = key.toBytes();
  for (let index = 0; index < signers; index += 1) {
    const start = 5 + index * PUBLIC_KEY_BYTES;
    if (Buffer.compare(message.subarray(start, start + PUBLIC_KEY_BYTES), bytes) === 0) return true;
  }
  return false;
}
