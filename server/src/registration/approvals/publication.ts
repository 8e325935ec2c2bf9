import { type ListingTerms, RENTAL_TERMS, type RentalModel } from '@agent-rental/contract';
import { ApiError } from '../../http/api-error.js';
import { notYours } from '../own-listing.js';
import type { DraftRow } from '../drafts/draft-row.js';
import type { RegistrationRepository } from '../repository.js';
import { reviewStateOf, type ReviewMode } from './approval-state.js';
import { termViolations, type RegistrationRules } from '../manifest/validate.js';

/** A reviewed draft, with all that its on-chain account holds. */
export interface PublishableListing {
  id: string;
  creator: string;
  rentalModel: RentalModel;
  priceLamports: bigint;
  minDepositLamports: bigint;
  metadataUri: string;
}

/** Decides what may be published. */
export interface Publication {
  /** What to publish on-chain for a reviewed draft of this wallet; stores terms that were still missing. */
  prepareToPublish(
    wallet: string,
    listingId: string,
    terms: ListingTerms | undefined,
  ): Promise<PublishableListing>;
}

export function createPublication({
  repository,
  rules,
  review,
}: {
  repository: RegistrationRepository;
  rules(): Promise<RegistrationRules>;
  review: ReviewMode;
}): Publication {
  return {
    async prepareToPublish(wallet, listingId, terms) {
      const requireApproved = (draft: DraftRow | undefined) => approvedDraft(draft, wallet, review);
      requireApproved(await repository.findDraft(listingId));
      if (terms) {
        const violations = termViolations(terms, await rules());
        if (violations.length > 0) {
          throw new ApiError(
            'invalid_request',
            violations.map(({ path, message }) => `${path} ${message}`).join('; '),
          );
        }
      }
      const columns = terms ? termColumns(terms) : undefined;
      // Once more, on the locked row: the draft may have been changed meanwhile.
      const draft = await repository.beginPublication(listingId, columns, (row) => {
        const approved = requireApproved(row);
        requireTerms(columns ?? approved);
        return approved;
      });
      return {
        id: listingId,
        creator: wallet,
        ...requireTerms(draft),
        metadataUri: draft.metadata_uri,
      };
    },
  };
}

/** @throws ApiError for what is not that wallet's draft, or whose present version is not approved. */
function approvedDraft(draft: DraftRow | undefined, wallet: string, mode: ReviewMode): DraftRow {
  if (!draft || draft.creator !== wallet) throw notYours();
  if (draft.status !== 'draft') throw new ApiError('invalid_request', 'The listing is published already.');
  const state = reviewStateOf(draft, mode);
  if (state === 'approved') return draft;
  const why =
    state === 'rejected' && draft.review_reason !== null
      ? `its review rejected it. ${draft.review_reason}`
      : draft.approved_version_id === null
        ? `its review is ${state}.`
        : `its review is ${state}: the approval was for the version before the last change, and this one waits for its own.`;
  throw new ApiError('invalid_request', `The listing cannot be published: ${why}`);
}

/** The terms that a listing is published with. @throws ApiError where they are missing. */
function requireTerms({
  rental_model: rentalModel,
  price_lamports: priceLamports,
  min_deposit_lamports: minDepositLamports,
}: Pick<DraftRow, 'rental_model' | 'price_lamports' | 'min_deposit_lamports'>) {
  if (rentalModel === null || priceLamports === null || minDepositLamports === null) {
    throw new ApiError(
      'invalid_request',
      'listing is required: this agent was registered without rental_model and price.',
    );
  }
  return { rentalModel, priceLamports, minDepositLamports };
}

/** A listing's terms as they are stored. */
export function termColumns(terms: ListingTerms | undefined) {
  if (!terms) return { rental_model: null, price_lamports: null, min_deposit_lamports: null };
  const price = BigInt(terms.price_lamports);
  const deposit = terms.min_deposit_lamports === undefined ? price : BigInt(terms.min_deposit_lamports);
  return {
    rental_model: terms.rental_model,
    price_lamports: price,
    min_deposit_lamports: RENTAL_TERMS[terms.rental_model].isPrepaid ? deposit : 0n,
  };
}
