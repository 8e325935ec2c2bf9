/** The first bytes of Solana's off-chain envelope: its signing domain and version 0. */
const START = Uint8Array.of(0xff, ...new TextEncoder().encode('solana offchain'), 0);
/** Bytes between start and message length. Current apps: application, format, count of signers, one signer. Older apps: format. */
const HEADER_BYTES = [32 + 1 + 1 + 32, 1] as const;

/**
 * The message in a signed message. A Ledger signs every message in Solana's off-chain envelope; other wallets sign the message alone.
 *
 * Source: docs.anza.xyz/proposals/off-chain-message-signing
 */
export function unwrapSignedMessage(signed: Uint8Array): Uint8Array {
  if (!START.every((byte, index) => signed[index] === byte)) return signed;
  for (const header of HEADER_BYTES) {
    const message = signed.subarray(START.length + header + 2);
    const [low = 0, high = 0] = signed.subarray(START.length + header);
    if (message.length > 0 && message.length === low + high * 256) return message;
  }
  return signed;
}
