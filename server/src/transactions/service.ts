import type { CredentialVerification, TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import type { Chain } from '../chain/index.js';
import type { CredentialService, Indexer } from '../credentials/index.js';
import type { ListingService } from '../listings/index.js';
import type { RegistrationService } from '../registration/index.js';
import { listingAddressOf } from './listing-of.js';
import type { ProposalBuilder } from './proposals.js';
import { parseSignedTransaction, submitAndConfirm } from './submit.js';

export interface TransactionService {
  /** Builds what the wallet wants to sign. @throws ApiError when it makes no sense for that listing. */
  propose(wallet: string, request: TransactionRequest): Promise<TransactionProposal>;
  /** Sends, confirms, waits for the index; answers with the rental's credential where there is one. */
  submit(
    wallet: string,
    transaction: string,
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
  return {
    async propose(wallet, request) {
      if (request.action === 'publish') {
        const draft = await deps.registration.prepareToPublish(wallet, request.listing_id, request.listing);
        return deps.proposals.publish(wallet, draft);
      }
      // Says in the API's words that an id is malformed, unknown or a draft's.
      await deps.listings.find(request.listing_id);
      return deps.proposals.act(wallet, request);
    },

    async submit(wallet, base64) {
      const transaction = parseSignedTransaction(base64, wallet, deps.chain.programId);
      await submitAndConfirm(deps.chain, transaction);
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
