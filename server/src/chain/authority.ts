import { readFile } from 'node:fs/promises';
import { Keypair } from '@solana/web3.js';
import * as z from 'zod';

const keypairFile = z.array(z.int().min(0).max(255)).length(64);

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
  return Keypair.fromSecretKey(Uint8Array.from(bytes));
}
