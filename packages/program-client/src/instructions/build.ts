import { Buffer } from 'buffer';
import { TransactionInstruction, type PublicKey } from '@solana/web3.js';
import {
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  findProtocolAddress,
} from '../accounts/addresses.js';
import { encodeFields, type BorshValue } from '../decoding/borsh.js';
import type { IdlInstruction } from '../idl-types.js';
import { MARKETPLACE_IDL } from '../idl.js';
import { MARKETPLACE_PROGRAM_ID } from '../program-id.js';

/** The program's instructions by their names on-chain. */
export type InstructionName =
  | 'initialize_protocol'
  | 'create_listing'
  | 'update_listing'
  | 'close_listing'
  | 'moderate_listing'
  | 'purchase_one_time'
  | 'purchase_subscription'
  | 'purchase_per_query'
  | 'renew_subscription'
  | 'topup_balance'
  | 'fund_balance'
  | 'consume_query'
  | 'consume_queries'
  | 'revoke_access'
  | 'revoke_per_query_access'
  | 'withdraw_earnings'
  | 'update_protocol'
  | 'verify_access';

/** Options of every builder. */
export interface ProgramOption {
  /** The id of the deployed program; default {@link MARKETPLACE_PROGRAM_ID}. */
  programId?: PublicKey | undefined;
}

const byName = new Map<string, IdlInstruction>(MARKETPLACE_IDL.instructions.map((ix) => [ix.name, ix]));

/** The IDL's entry of an instruction. */
function idlInstruction(name: InstructionName): IdlInstruction {
  const instruction = byName.get(name);
  if (instruction === undefined) {
    throw new Error(`The IDL has no instruction ${name}.`);
  }
  return instruction;
}

/**
 * Builds an instruction: order, flags and encoding come from the IDL, addresses and values from the caller.
 * An optional account that is left out is passed as the program's own id, as Anchor does.
 */
export function buildInstruction(
  name: InstructionName,
  accounts: Record<string, PublicKey | undefined>,
  args: Record<string, BorshValue | undefined>,
  programId: PublicKey = MARKETPLACE_PROGRAM_ID,
): TransactionInstruction {
  const instruction = idlInstruction(name);
  const keys = instruction.accounts.map((account) => {
    const pubkey = accounts[account.name] ?? (account.optional === true ? programId : undefined);
    if (pubkey === undefined) {
      throw new TypeError(`${name} needs the account ${account.name}.`);
    }
    const isOmitted = account.optional === true && accounts[account.name] === undefined;
    return {
      pubkey,
      isSigner: account.signer === true && !isOmitted,
      isWritable: account.writable === true && !isOmitted,
    };
  });
  const data = Buffer.from([...instruction.discriminator, ...encodeFields(instruction.args, args)]);
  return new TransactionInstruction({ keys, programId, data });
}

/** The accounts of a buyer's rental under their names in the IDL. */
export function rentalAccounts(input: ProgramOption & { buyer: PublicKey; listingId: string }) {
  const { buyer, listingId, programId } = input;
  const listing = findListingAddress(listingId, programId).address;
  return {
    buyer,
    protocol: findProtocolAddress(programId).address,
    listing,
    escrow: findEscrowAddress(listing, programId).address,
    access_credential: findAccessCredentialAddress(buyer, listing, programId).address,
    per_query_balance: findPerQueryBalanceAddress(buyer, listing, programId).address,
  };
}
