import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';

/** 32 bytes that follow from a name. */
export function seedOf(name: string): Buffer {
  return createHash('sha256').update(name).digest();
}

/** A keypair that follows from a name, so that files of vectors stay the same. */
export function seededKeypair(name: string): Keypair {
  return Keypair.fromSeed(seedOf(name));
}
