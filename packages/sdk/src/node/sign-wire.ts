const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
/** The bit in the first byte of a versioned message. */
const VERSIONED = 0x80;

/**
 * Adds a wallet's signature to a wire transaction, at the wallet's place among the signers.
 *
 * @param publicKey the wallet's 32 bytes
 * @throws RangeError if the bytes are no transaction, or the wallet is not one of its signers
 */
export function signWire(
  wire: Uint8Array,
  publicKey: Uint8Array,
  sign: (message: Uint8Array) => Uint8Array,
): Uint8Array {
  const signatures = compactLength(wire, 0);
  const messageStart = signatures.next + signatures.length * SIGNATURE_BYTES;
  const message = wire.subarray(messageStart);
  // A version byte comes before the header's three bytes. The header's first byte is the number of signers.
  const headerStart = byteAt(message, 0) >= VERSIONED ? 1 : 0;
  const signerCount = byteAt(message, headerStart);
  const keys = compactLength(message, headerStart + 3);
  if (signerCount !== signatures.length || keys.length < signerCount) throw noTransaction();
  for (let index = 0; index < signerCount; index += 1) {
    const start = keys.next + index * KEY_BYTES;
    if (Buffer.compare(message.subarray(start, start + KEY_BYTES), publicKey) !== 0) continue;
    const signed = new Uint8Array(wire);
    signed.set(sign(message), signatures.next + index * SIGNATURE_BYTES);
    return signed;
  }
  throw new RangeError('The transaction does not ask for the signature of this wallet.');
}

/** A length in Solana's compact form: seven bits a byte, the lowest first, at most three bytes. */
function compactLength(bytes: Uint8Array, start: number): { length: number; next: number } {
  let length = 0;
  for (let place = 0; place < 3; place += 1) {
    const byte = byteAt(bytes, start + place);
    length |= (byte & 0x7f) << (7 * place);
    if (byte < 0x80) return { length, next: start + place + 1 };
  }
  throw noTransaction();
}

function byteAt(bytes: Uint8Array, index: number): number {
  const byte = bytes[index];
  if (byte === undefined) throw noTransaction();
  return byte;
}

function noTransaction(): RangeError {
  return new RangeError('The bytes are not a wire transaction.');
}
