import type { AccountMeta, PublicKey } from '@solana/web3.js';
import { BorshReader, camelCase, hasDiscriminator, type BorshValue } from './borsh.js';
import { MARKETPLACE_IDL } from '../idl.js';
import type { InstructionName } from '../instructions/build.js';

/** One of the program's instructions, read back from a transaction. */
export interface DecodedInstruction {
  name: InstructionName;
  /** Arguments by their camelCase names; types as in {@link BorshValue}. */
  args: Record<string, BorshValue>;
  /** Addresses by their camelCase names. */
  accounts: Record<string, PublicKey>;
  /** The accounts after the named ones: for `consume_queries`, a credential and a balance for each charge. */
  others: PublicKey[];
}

/**
 * Reads an instruction of the program. The caller has checked that the program id is the marketplace's.
 *
 * @returns null for bytes that are not exactly one of its instructions, or too few accounts
 */
export function decodeInstruction(
  data: Uint8Array,
  accounts: readonly (PublicKey | AccountMeta)[],
): DecodedInstruction | null {
  const instruction = MARKETPLACE_IDL.instructions.find((candidate) =>
    hasDiscriminator(data, candidate.discriminator),
  );
  if (instruction === undefined || accounts.length < instruction.accounts.length) {
    return null;
  }
  const reader = new BorshReader(data, instruction.discriminator.length);
  let args: Record<string, BorshValue>;
  try {
    args = reader.readFields(instruction.args);
  } catch {
    return null;
  }
  if (reader.remaining > 0) {
    return null;
  }
  const addresses = accounts.map((given) => ('pubkey' in given ? given.pubkey : given));
  const named: Record<string, PublicKey> = {};
  for (const [index, account] of instruction.accounts.entries()) {
    const address = addresses[index];
    if (address !== undefined) named[camelCase(account.name)] = address;
  }
  const others = addresses.slice(instruction.accounts.length);
  return { name: instruction.name as InstructionName, args, accounts: named, others };
}
