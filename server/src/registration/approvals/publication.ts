import type { ListingChanges, RentalModel } from '@agent-rental/contract';
import { ApiError } from '../../errors/api-error.js';
import { notYours } from '../own-listing.js';
import type { DraftRow } from '../drafts/draft-row.js';
import type { RegistrationRepository } from '../repository.js';
import { requireReached, type PublicationProbes } from '../probes/publication-probe.js';
import {
  hasSamples,
  requireSamples,
  sampleUnderWay,
  type PublicationSamples,
} from '../samples/publication-samples.js';
import { reviewStateOf, type ReviewMode } from './approval-state.js';
import { listingColumns, listingViolations } from '../manifest/listing-terms.js';
import type { RegistrationRules, Violation } from '../manifest/validate.js';

/** A reviewed draft, with all that its on-chain account holds. */
export interface PublishableListing {
  id: string;
  creator: string;
  rentalModel: RentalModel;
  priceLamports: bigint;
  minDepositLamports: bigint;
  metadataUri: string;
}

/** Decides which drafts a wallet may publish. */
export interface Publication {
  /**
   * The on-chain values for a reviewed draft of this wallet. Also stores the changes of the listing in the request.
   *
   * @param options `isUnverified` publishes an agent that was not reached, and marks it
   */
  prepareToPublish(
    wallet: string,
    listingId: string,
    changes: ListingChanges | undefined,
    options?: { isUnverified?: boolean | undefined },
  ): Promise<PublishableListing>;
}

export function createPublication({
  repository,
  rules,
  review,
  samples,
  probes,
}: {
  repository: RegistrationRepository;
  samples: PublicationSamples;
  probes: PublicationProbes;
  rules(): Promise<RegistrationRules>;
  review: ReviewMode;
}): Publication {
  return {
    async prepareToPublish(wallet, listingId, changes, { isUnverified = false } = {}) {
      const requireApproved = (draft: DraftRow | undefined) => approvedDraft(draft, wallet, review);
      const found = requireApproved(await repository.findDraft(listingId));
      const judged = await rules();
      if (changes?.sample_output === undefined) await requireSamples(found, samples);
      const isReached = await requireReached(found, probes, isUnverified);
      const unverified_at = isReached ? null : new Date();
      // Once more, on the locked row: the draft may have been changed meanwhile.
      const draft = await repository.beginPublication(listingId, (row) => {
        const approved = requireApproved(row);
        if (approved.version_id !== found.version_id) throw changedMeanwhile();
        if (changes?.sample_output === undefined && !hasSamples(approved)) throw sampleUnderWay();
        if (changes === undefined) return { draft: approved, columns: { unverified_at } };
        const violations = listingViolations(changes, approved, judged);
        if (violations.length > 0) throw new ApiError('invalid_request', told(violations));
        const columns = listingColumns(changes, approved);
        requireTerms({ ...approved, ...columns });
        return { draft: approved, columns: { ...columns, unverified_at } };
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

/** @throws ApiError for a draft of another wallet, and for a present version without an approval. */
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

const changedMeanwhile = () =>
  new ApiError('invalid_request', 'The agent was changed while it was being published.', {
    next: 'Publish it again.',
  });

/** Violations in one sentence. */
const told = (violations: readonly Violation[]) =>
  violations.map(({ path, message }) => `${path} ${message}`).join('; ');

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
