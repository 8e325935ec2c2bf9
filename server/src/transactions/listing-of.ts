import { decodeInstruction } from '@agent-rental/program-client';
import type { PublicKey, VersionedMessage } from '@solana/web3.js';

/** Address of the listing that a transaction's first instruction of ours is about. */
export function listingAddressOf(message: VersionedMessage, programId: PublicKey): string | undefined {
  const keys = message.staticAccountKeys;
  for (const instruction of message.compiledInstructions) {
    if (!keys[instruction.programIdIndex]?.equals(programId)) continue;
    const accounts = instruction.accountKeyIndexes.map((index) => keys[index]);
    if (accounts.some((account) => account === undefined)) continue;
    const decoded = decodeInstruction(instruction.data, accounts as PublicKey[]);
    const listing = decoded?.accounts['listing'];
    if (listing) return listing.toBase58();
  }
  return undefined;
}
