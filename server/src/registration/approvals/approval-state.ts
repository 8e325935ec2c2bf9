import type { DraftRow } from '../drafts/draft-row.js';

/** Who approves a listing's first version. */
export type ReviewMode = 'automatic' | 'operator';

/**
 * The state of a listing's review. An approval covers one version. A draft that changed afterwards waits for another
 * approval, except in the automatic mode, which approves every version that passes the checks.
 */
export function reviewStateOf(
  listing: Pick<DraftRow, 'status' | 'review_state' | 'version_id' | 'approved_version_id'>,
  mode: ReviewMode,
): DraftRow['review_state'] {
  const isChanged = listing.status === 'draft' && listing.approved_version_id !== listing.version_id;
  return listing.review_state === 'approved' && isChanged && mode === 'operator'
    ? 'pending'
    : listing.review_state;
}

/** The state of the review after a draft gets another version that passed the checks. */
export function reviewStateAfterChange(
  state: DraftRow['review_state'],
  mode: ReviewMode,
): DraftRow['review_state'] {
  // Switching to the automatic review does not approve a draft that waits for an operator.
  return mode === 'operator' || state === 'pending' ? 'pending' : 'approved';
}
