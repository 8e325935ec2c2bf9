import { constants, createPublicKey, verify } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';

/** A kind of signature of a data item (ANS-104, section 2.1). */
export interface SignatureKind {
  /** As it is written in the item, and signed with it. */
  readonly type: number;
  readonly ownerBytes: number;
  readonly signatureBytes: number;
  isValid(owner: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** RSA-PSS over SHA-256, of any salt length: the owner is the modulus. */
export function isRsaSignature(owner: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: { kty: 'RSA', n: base64url(owner), e: 'AQAB' }, format: 'jwk' });
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_AUTO: saltLength } = constants;
  return verify('sha256', message, { key, padding, saltLength }, signature);
}

function isEd25519Signature(owner: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: base64url(owner) },
    format: 'jwk',
  });
  return verify(null, message, key, signature);
}

/** As Ethereum's wallets sign a message (EIP-191), with the 65 bytes of the key as owner. */
function isEthereumSignature(owner: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const head = Buffer.from(`\u0019Ethereum Signed Message:\n${message.length}`);
  const hash = keccak_256(Buffer.concat([head, message]));
  return secp256k1.verify(signature.subarray(0, 64), hash, owner, { prehash: false, lowS: false });
}

/** The kinds that are read. Solana's wallets sign the hexadecimal digits of the message. */
export const SIGNATURE_KINDS: readonly SignatureKind[] = [
  { type: 1, ownerBytes: 512, signatureBytes: 512, isValid: isRsaSignature },
  { type: 2, ownerBytes: 32, signatureBytes: 64, isValid: isEd25519Signature },
  { type: 3, ownerBytes: 65, signatureBytes: 65, isValid: isEthereumSignature },
  {
    type: 4,
    ownerBytes: 32,
    signatureBytes: 64,
    isValid: (owner, message, signature) =>
      isEd25519Signature(owner, Buffer.from(Buffer.from(message).toString('hex')), signature),
  },
];
