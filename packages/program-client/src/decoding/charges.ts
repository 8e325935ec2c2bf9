import type { PublicKey } from '@solana/web3.js';
import type { DecodedInstruction } from './decode-instruction.js';

/** One charge that an instruction makes, of `consume_query` or one of several of `consume_queries`. */
export interface DecodedCharge {
  /** 16 bytes that name the run. */
  runId: Uint8Array;
  sequence: bigint;
  priceLamports: bigint;
  authority: PublicKey;
  listing: PublicKey;
  /** The buyer's credential. */
  accessCredential: PublicKey;
  /** The balance that is charged. */
  perQueryBalance: PublicKey;
}

interface ChargeArgs {
  runId: Uint8Array;
  sequence: bigint;
  priceLamports: bigint;
}

/**
 * The charges of a decoded instruction in their order. None for an instruction that charges nothing, and for one with too
 * few accounts, which the program refuses.
 */
export function chargesOf(instruction: DecodedInstruction | null): DecodedCharge[] {
  if (instruction === null) return [];
  const { name, args, accounts, others } = instruction;
  const { authority, listing } = accounts;
  if (authority === undefined || listing === undefined) return [];
  if (name === 'consume_query') {
    const { accessCredential, perQueryBalance } = accounts;
    if (accessCredential === undefined || perQueryBalance === undefined) return [];
    return [{ ...(args as unknown as ChargeArgs), authority, listing, accessCredential, perQueryBalance }];
  }
  if (name !== 'consume_queries') return [];
  const charges = args['charges'] as unknown as ChargeArgs[];
  if (others.length < 2 * charges.length) return [];
  return charges.flatMap((charge, place) => {
    const [accessCredential, perQueryBalance] = others.slice(2 * place);
    if (accessCredential === undefined || perQueryBalance === undefined) return [];
    return { ...charge, authority, listing, accessCredential, perQueryBalance };
  });
}
