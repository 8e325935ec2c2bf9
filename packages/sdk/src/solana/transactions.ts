import type {
  CredentialVerification,
  operations,
  TransactionProposal,
  TransactionRequest,
} from '@agent-rental/contract';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { ComputeBudgetProgram, VersionedTransaction } from '@solana/web3.js';
import type { z } from 'zod';
import type { CallOptions, RentalClient } from '../client.js';
import type { WalletSigner } from './signer.js';

/** A transaction that a server proposed does something else than what was asked for. */
export class UntrustedTransactionError extends Error {
  override readonly name = 'UntrustedTransactionError';
}

/** Options of a call that signs. */
export interface SignOptions extends CallOptions {
  /** Address of the marketplace program, where it is not the default one. */
  programId?: string;
}

/**
 * Checks a proposed transaction before it is signed: the signer pays, nothing but the marketplace program
 * and ComputeBudget is called, and no lookup table hides an account.
 *
 * @throws UntrustedTransactionError naming what is wrong.
 */
export function checkProposal(proposal: TransactionProposal, payer: string, programId?: string): Uint8Array {
  const wire = Uint8Array.from(atob(proposal.transaction), (character) => character.charCodeAt(0));
  const { message } = VersionedTransaction.deserialize(wire);
  const refuse = (reason: string): never => {
    throw new UntrustedTransactionError(`Not signed: the proposed transaction ${reason}.`);
  };
  if (message.addressTableLookups.length > 0) refuse('uses address lookup tables');
  if (message.staticAccountKeys[0]?.toBase58() !== payer) refuse('is paid by another wallet');
  const allowed = new Set([
    programId ?? MARKETPLACE_PROGRAM_ID.toBase58(),
    ComputeBudgetProgram.programId.toBase58(),
  ]);
  for (const instruction of message.compiledInstructions) {
    const program = message.staticAccountKeys[instruction.programIdIndex]?.toBase58() ?? 'an unknown program';
    if (!allowed.has(program)) refuse(`calls ${program}`);
  }
  return wire;
}

/** Gets a transaction from the API, checks it, signs it and submits it; resolves once it is confirmed and indexed. */
export async function signAndSubmit(
  client: RentalClient,
  signer: WalletSigner,
  request: TransactionRequest,
  options: SignOptions = {},
): Promise<z.output<typeof operations.submitTransaction.response>> {
  const proposal = await client.createTransaction(request, options);
  const wire = checkProposal(proposal, signer.address, options.programId);
  const signed = await signer.signTransaction(wire);
  return client.submitTransaction(btoa(String.fromCharCode(...signed)), options);
}

/** Terms of a rental; what is absent is the listing's own. */
export type RentTerms = Omit<Extract<TransactionRequest, { action: 'rent' }>, 'action' | 'listing_id'>;

/** Rents a listing: one call from its id to a credential that works. */
export async function rent(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  terms: RentTerms = {},
  options: SignOptions = {},
): Promise<CredentialVerification> {
  const request = { action: 'rent' as const, listing_id: listingId, ...terms };
  const submitted = await signAndSubmit(client, signer, request, options);
  return submitted.credential ?? client.verifyCredential(listingId, options);
}

/** Publishes a listing whose review has passed. The wallet pays the rent of its accounts. */
export async function publish(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  options: SignOptions = {},
): Promise<{ signature: string }> {
  return signAndSubmit(client, signer, { action: 'publish', listing_id: listingId }, options);
}
