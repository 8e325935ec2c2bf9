import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { WalletSigner } from '../solana/wallets/signer.js';
import { signWire } from './sign-wire.js';

/** A wallet file cannot be used; the message never shows its content. */
export class WalletFileError extends Error {
  override readonly name = 'WalletFileError';
}

/** DER header of an ed25519 private key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * Reads a keypair file of the Solana tools (a JSON array of 64 numbers) into a signer. It uses Node's own cryptography,
 * because the chain's library would triple the start time of programs that only log in.
 *
 * @throws WalletFileError if there is no such file or it holds no keypair.
 */
export function readWalletFile(path: string): WalletSigner {
  const bytes = keypairBytes(path);
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, bytes.subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = publicBytes(createPublicKey(privateKey));
  if (!publicKey.equals(bytes.subarray(32))) {
    throw new WalletFileError(`${path} is damaged: its two halves do not belong together.`);
  }
  const signBytes = (message: Uint8Array) => new Uint8Array(sign(null, message, privateKey));
  return {
    address: toBase58(publicKey),
    signMessage: async (message) => signBytes(message),
    signTransaction: async (wire) => signWire(wire, publicKey, signBytes),
  };
}

/**
 * Makes a new wallet and writes it to a keypair file that only its owner can read. Never overwrites a file.
 *
 * @returns the wallet's address
 * @throws WalletFileError if the file exists or cannot be written.
 */
export function createWalletFile(path: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const bytes = [...seed, ...publicBytes(publicKey)];
  try {
    writeFileSync(path, `${JSON.stringify(bytes)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new WalletFileError(
      exists ? `${path} is there already, and may be a wallet.` : `${path} cannot be written.`,
    );
  }
  return toBase58(publicBytes(publicKey));
}

function publicBytes(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(-32);
}

function keypairBytes(path: string): Buffer {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new WalletFileError(`${path} cannot be read.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const isByte = (item: unknown): item is number =>
    typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255;
  if (!Array.isArray(value) || value.length !== 64 || !value.every(isByte)) {
    throw new WalletFileError(`${path} is not a keypair file: a JSON array of 64 numbers.`);
  }
  return Buffer.from(value);
}

function toBase58(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; value > 0n; value /= 58n) text = `${BASE58[Number(value % 58n)]}${text}`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return BASE58.charAt(0).repeat(zeros === -1 ? bytes.length : zeros) + text;
}
