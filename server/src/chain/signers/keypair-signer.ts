import { readFile } from 'node:fs/promises';
import { sign } from 'node:crypto';
import { Keypair, type PublicKey } from '@solana/web3.js';
import * as z from 'zod';
import { ed25519PrivateKey } from '../../platform/keys.js';

const keypairFile = z.array(z.int().min(0).max(255)).length(64);

/** Signs for the protocol's hot authority. */
export interface AuthoritySigner {
  /** The key that new transactions name. */
  readonly publicKey: PublicKey;
  /**
   * Signs the message of a transaction.
   *
   * @throws ApiError `service_unavailable` when the signature cannot be had.
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** A signer that holds its key. It signs by OpenSSL, because every paid run waits for a signature. */
export function createKeypairSigner(keypair: Keypair): AuthoritySigner {
  const privateKey = ed25519PrivateKey(keypair.secretKey.subarray(0, 32));
  return { publicKey: keypair.publicKey, sign: async (message) => sign(null, message, privateKey) };
}

/**
 * Loads a keypair from a file in the form of Solana's own tools (a JSON array of 64 bytes).
 *
 * @throws Error naming the file; never its content.
 */
export async function loadKeypair(path: string): Promise<Keypair> {
  let bytes: number[];
  try {
    bytes = keypairFile.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'it is not a JSON array of 64 bytes';
    throw new Error(`The keypair file ${path} cannot be read: ${reason}.`, { cause: error });
  }
  try {
    return Keypair.fromSecretKey(Uint8Array.from(bytes));
  } catch {
    throw new Error(`The keypair file ${path} cannot be used: its two halves are not of one key.`);
  }
}
