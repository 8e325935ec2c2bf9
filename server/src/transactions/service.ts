import { createHash } from 'node:crypto';
import type {
  ApiKeyScope,
  CredentialVerification,
  TransactionProposal,
  TransactionRequest,
} from '@agent-rental/contract';
import { ACCOUNT_SIZES } from '@agent-rental/program-client';
import { VersionedTransaction, type VersionedMessage } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { CredentialService, Indexer } from '../credentials/index.js';
import type { Allowance, SpendingCall } from '../spending/index.js';
import type { ListingService } from '../listings/index.js';
import type { RegistrationService } from '../registration/index.js';
import { ApiError } from '../errors/api-error.js';
import { createdListings, transactionScopes } from './instruction-scopes.js';
import { listingAddressOf } from './listing-of.js';
import type { ProposalBuilder } from './proposals.js';
import { rentalSpendsOf } from './rental-spends.js';
import { parseSignedTransaction, submitAndConfirm } from './submit.js';

export interface TransactionService {
  /**
   * Builds the transaction that the wallet wants to sign.
   *
   * @throws ApiError when the action does not fit the listing, or spends more than the caller may.
   */
  propose(wallet: string, request: TransactionRequest, allowance: Allowance): Promise<TransactionProposal>;
  /** The scopes that an API key needs, all of them, to submit it. @throws ApiError when it is not the wallet's to submit. */
  scopesOf(wallet: string, transaction: string): Set<ApiKeyScope>;
  /**
   * Sends, confirms, waits for the index; answers with the rental's credential where there is one.
   *
   * @param request of the transaction: a transaction that is too old is proposed anew
   * @throws ApiError when it fails, or spends more than the caller may: then it is not sent.
   */
  submit(
    wallet: string,
    transaction: string,
    allowance: Allowance,
    request?: TransactionRequest,
  ): Promise<{ signature: string; listing_id?: string; credential?: CredentialVerification }>;
}

export function createTransactionService(deps: {
  chain: Chain;
  proposals: ProposalBuilder;
  listings: ListingService;
  registration: RegistrationService;
  credentials: CredentialService;
  indexer: Indexer;
}): TransactionService {
  /**
   * The whole amount that a transaction spends on rentals.
   *
   * @throws ApiError for a listing that the caller may not rent.
   */
  async function requireRentals(
    message: VersionedMessage,
    allowance: Allowance,
  ): Promise<{ lamports: bigint; call?: SpendingCall }> {
    let lamports = 0n;
    const terms: string[] = [];
    const listingIds = new Set<string>();
    for (const spend of rentalSpendsOf(message, deps.chain.programId)) {
      const listingId = (await deps.listings.findIdByAddress(spend.listingAddress)) ?? '';
      allowance.requireRental(listingId);
      lamports += spend.lamports;
      listingIds.add(listingId);
      terms.push(`${spend.listingAddress} ${spend.terms}`);
    }
    const [listingId, ...others] = listingIds;
    if (listingId === undefined) return { lamports };
    // By its terms, not by its bytes: a transaction expires while it waits for approval, and is signed anew.
    const call = { listingId, digest: createHash('sha256').update(terms.join('\n')).digest() };
    if (others.length > 0 && allowance.asksFor({ kind: 'rental', lamports, call })) {
      throw new ApiError(
        'invalid_request',
        'transaction: rents several agents, and its amount needs an approval.',
        {
          next: 'Rent each with a separate transaction.',
        },
      );
    }
    return { lamports, call };
  }

  /** The rent of new listings' accounts, from their creator's wallet. */
  async function listingRent(message: VersionedMessage): Promise<bigint> {
    const listings = createdListings(message, deps.chain.programId);
    if (listings === 0) return 0n;
    const rents = await Promise.all(
      (['Listing', 'Escrow'] as const).map((name) => deps.chain.minimumBalance(ACCOUNT_SIZES[name])),
    );
    return BigInt(listings) * rents.reduce((sum, rent) => sum + rent, 0n);
  }

  async function propose(
    wallet: string,
    request: TransactionRequest,
    allowance: Allowance,
  ): Promise<TransactionProposal> {
    if (request.action === 'publish') {
      const draft = await deps.registration.prepareToPublish(wallet, request.listing_id, request.listing, {
        isUnverified: request.unverified,
      });
      const proposal = await deps.proposals.publish(wallet, draft);
      // A listing has no price for its creator, but its accounts hold rent.
      await allowance.requireRoom({ kind: 'rental', lamports: BigInt(proposal.quote.rent_lamports) });
      return proposal;
    }
    // Says in the API's words that an id is malformed, unknown or a draft's.
    const { suspensionReason } = await deps.listings.find(request.listing_id);
    const proposal = await deps.proposals.act(wallet, request, suspensionReason);
    const { message } = VersionedTransaction.deserialize(Buffer.from(proposal.transaction, 'base64'));
    await allowance.requireRoom({ kind: 'rental', ...(await requireRentals(message, allowance)) });
    return proposal;
  }

  return {
    propose,

    scopesOf(wallet, base64) {
      const { programId } = deps.chain;
      const { message } = parseSignedTransaction(base64, wallet, programId);
      return transactionScopes(message, wallet, programId);
    },

    async submit(wallet, base64, allowance, request) {
      const transaction = parseSignedTransaction(base64, wallet, deps.chain.programId);
      const rentals = await requireRentals(transaction.message, allowance);
      const lamports = rentals.lamports + (await listingRent(transaction.message));
      const spend = { ...rentals, id: transaction.signature, kind: 'rental', lamports } as const;
      if (lamports > 0n) await allowance.reserve(spend);
      let outcome;
      try {
        outcome = await submitAndConfirm(deps.chain, transaction);
      } catch (error) {
        // One that was not confirmed in time may still land: it stays counted.
        if (error instanceof ApiError && error.code !== 'service_unavailable')
          await allowance.releaseReservation(spend.id);
        throw error;
      }
      if (outcome === 'too_old') {
        await allowance.releaseReservation(spend.id);
        const proposal = request && (await propose(wallet, request, allowance));
        throw new ApiError('invalid_request', 'The transaction is too old, and never lands.', {
          next: proposal ? 'Sign and submit `proposal`.' : 'Get a new one, and sign and submit it.',
          proposal,
        });
      }
      await deps.indexer.indexTransaction(transaction.signature);
      const { signature } = transaction;
      const address = listingAddressOf(transaction.message, deps.chain.programId);
      const listingId = address === undefined ? undefined : await deps.listings.findIdByAddress(address);
      if (listingId === undefined) return { signature };
      const credential = await deps.credentials.verify(wallet, listingId);
      const rented = credential.status !== 'not_found';
      return { signature, listing_id: listingId, ...(rented ? { credential } : {}) };
    },
  };
}
