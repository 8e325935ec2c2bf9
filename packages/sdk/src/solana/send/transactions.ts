import type { CredentialVerification, TransactionRequest } from '@agent-rental/contract';
import type { RentalClient } from '../../client.js';
import type {
  ListingChanges,
  ModerateTerms,
  PublishTerms,
  RenewTerms,
  RentTerms,
  TopUpTerms,
  WithdrawTerms,
} from '../build/action-terms.js';
import { signAndSubmit, type SignOptions, type SubmittedTransaction } from './sign-and-submit.js';
import type { WalletSigner } from '../wallets/signer.js';

/** Rents a listing by its id. The credential works when the call returns. */
export async function rent(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  terms: RentTerms = {},
  options: SignOptions = {},
): Promise<CredentialVerification> {
  const request = { action: 'rent', listing_id: listingId, ...terms } as const;
  return credentialAfter(client, signer, request, options);
}

/**
 * Extends a subscription, expired or not, to now + duration. One that adds less than half of that is refused, unless the
 * terms have `early: true`.
 */
export async function renew(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  terms: RenewTerms,
  options: SignOptions = {},
): Promise<CredentialVerification> {
  const request = { action: 'renew', listing_id: listingId, ...terms } as const;
  return credentialAfter(client, signer, request, options);
}

/** Adds to a prepaid balance; an amount of 0 only accepts a new price. */
export async function topUp(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  terms: TopUpTerms,
  options: SignOptions = {},
): Promise<CredentialVerification> {
  const request = { action: 'topup', listing_id: listingId, ...terms } as const;
  return credentialAfter(client, signer, request, options);
}

/**
 * Takes a prepaid balance back. The listing must be closed, cost more than the agreed price, or have pauses of 7 days in
 * total within 30 days.
 */
export async function reclaim(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'reclaim', listing_id: listingId }, options);
}

/** Publishes an approved listing. The wallet pays the rent of its accounts. */
export async function publish(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  options: SignOptions & PublishTerms = {},
): Promise<SubmittedTransaction> {
  const { listing, unverified } = options;
  const request = {
    action: 'publish',
    listing_id: listingId,
    ...(listing && { listing }),
    ...(unverified === undefined ? {} : { unverified }),
  } as const;
  return signAndSubmit(client, signer, request, options);
}

/** Changes a listing's price, least deposit or metadata URI. */
export async function update(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  changes: ListingChanges,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'update', listing_id: listingId, ...changes }, options);
}

/** Takes a listing off sale. It runs no tasks until it is resumed. */
export async function pause(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'pause', listing_id: listingId }, options);
}

/** Puts a paused listing back on sale. */
export async function resume(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'resume', listing_id: listingId }, options);
}

/** Withdraws a listing's earnings and closes it for ever, in one transaction. */
export async function close(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'close', listing_id: listingId }, options);
}

/** Withdraws a listing's earnings. Default: all earnings. */
export async function withdraw(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  terms: WithdrawTerms = {},
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'withdraw', listing_id: listingId, ...terms }, options);
}

/** Suspends a listing, or makes that a pause. Only the wallet of the program's admin can. */
export async function moderate(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  terms: ModerateTerms,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'moderate', listing_id: listingId, ...terms }, options);
}

/** Ends a buyer's Per-Task rental of the wallet's own listing, for ever; balance and rent go back to the buyer. */
export async function revoke(
  client: RentalClient,
  signer: WalletSigner,
  listingId: string,
  buyer: string,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  return signAndSubmit(client, signer, { action: 'revoke', listing_id: listingId, buyer }, options);
}

async function credentialAfter(
  client: RentalClient,
  signer: WalletSigner,
  request: TransactionRequest,
  options: SignOptions,
): Promise<CredentialVerification> {
  const submitted = await signAndSubmit(client, signer, request, options);
  return submitted.credential ?? client.verifyCredential(request.listing_id, { signal: options.signal });
}
