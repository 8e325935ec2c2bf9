import { elementId } from '../../element-ids.js';
import type { PageChain } from '../page.js';
const RATINGS = [5, 4, 3, 2, 1];
/** As `createReviewBody` of the contract has it. */
const COMMENT_CHARACTERS = 2_000;

/** Rates a listing with a wallet that has run it. The script shows it, so that it is not there without one. */
export function ReviewSection({ listingId, chain }: { listingId: string; chain: PageChain }) {
  return (
    <section id="review" hidden data-listing={listingId} {...chain}>
      <details>
        <summary>Have you run it? Review it</summary>
        <form id="review-form" class="tall">
          <label>
            Rating
            <select id={elementId('rating')}>
              {RATINGS.map((rating) => (
                <option key={rating} value={String(rating)}>
                  {rating} of 5
                </option>
              ))}
            </select>
          </label>
          <label>
            Comment, which everyone can read
            <textarea id={elementId('comment')} rows={4} maxLength={COMMENT_CHARACTERS} />
          </label>
          <p class="wallets" />
        </form>
        <p role="status" />
      </details>
    </section>
  );
}
