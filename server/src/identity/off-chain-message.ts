/** Solana's signing domain of messages that are no transactions. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
const VERSION = Buffer.of(0);
/** An envelope that names no application. */
const NO_APPLICATION = Buffer.alloc(32);
/** Restricted ASCII, and UTF-8 of at most 1,232 bytes. Wallets differ in their choice for a text with line breaks. */
const FORMATS = [0, 1];

/**
 * The bytes that a wallet may sign for a text: the text alone, or Solana's off-chain envelope of version 0 around it. A Ledger
 * signs the envelope. Its older apps leave out the application and the signers.
 *
 * Source: docs.anza.xyz/proposals/off-chain-message-signing
 *
 * @param publicKey the wallet, 32 bytes; the only signer
 */
export function signedForms(text: string, publicKey: Uint8Array): Buffer[] {
  const message = Buffer.from(text, 'utf8');
  const length = Buffer.alloc(2);
  length.writeUInt16LE(message.length);
  const forms = [message];
  for (const format of FORMATS) {
    const start = [SIGNING_DOMAIN, VERSION];
    forms.push(
      Buffer.concat([...start, NO_APPLICATION, Buffer.of(format, 1), publicKey, length, message]),
      Buffer.concat([...start, Buffer.of(format), length, message]),
    );
  }
  return forms;
}
