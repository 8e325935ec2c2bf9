import { PAID_RUNS_COUNTED, type Review } from '@agent-rental/contract';
import { Stars } from '../../components/rating.js';
import { Words } from '../creator-words.js';

const REVIEW_CHARACTERS = 1_000;

/** The newest reviews of a listing. */
export function Reviews({ reviews, count }: { reviews: readonly Review[]; count: number }) {
  if (reviews.length === 0) return <p class="soft">No renter has reviewed it yet.</p>;
  return (
    <>
      {count > reviews.length ? (
        <p class="soft">
          The newest {reviews.length} of {count}.
        </p>
      ) : null}
      {reviews.map((review) => (
        <article key={review.reviewer} class="review">
          <p>
            <Stars rating={review.rating} />{' '}
            <span class="soft small">
              {paidRunsOf(review)}, {review.updated_at.slice(0, 10)}, wallet {review.reviewer.slice(0, 4)}...
              {review.reviewer.slice(-4)}
            </span>
          </p>
          {review.comment ? (
            <p>
              <Words text={review.comment} characters={REVIEW_CHARACTERS} />
            </p>
          ) : null}
        </article>
      ))}
    </>
  );
}

/** The finished paid runs of the reviewer. */
function paidRunsOf({ paid_runs: runs = 0 }: Review): string {
  if (runs === 1) return '1 paid run';
  return runs < PAID_RUNS_COUNTED ? `${runs} paid runs` : `${PAID_RUNS_COUNTED} or more paid runs`;
}
