import { PAID_RUNS_COUNTED, type Review, type ReviewPage } from '@agent-rental/contract';
import { Stars } from '../../components/rating.js';
import { Words } from '../creator-words.js';

const REVIEW_CHARACTERS = 1_000;
const STARS = [5, 4, 3, 2, 1] as const;

/** The newest reviews of a listing, and how many there are of each rating. */
export function Reviews({ page: { reviews, total, rating_counts: counts } }: { page: ReviewPage }) {
  if (reviews.length === 0) return <p class="soft">No renter has reviewed it yet.</p>;
  return (
    <>
      {counts === undefined ? null : <Ratings counts={counts} total={total} />}
      {total > reviews.length ? (
        <p class="soft">
          The newest {reviews.length} of {total}.
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
          {review.answer === undefined ? null : (
            <div class="answer">
              <p class="soft small">Answer of the creator, {review.answer.answered_at.slice(0, 10)}</p>
              <p>
                <Words text={review.answer.text} characters={REVIEW_CHARACTERS} />
              </p>
            </div>
          )}
        </article>
      ))}
    </>
  );
}

/** A bar for each rating. Screen readers read its number alone. */
function Ratings({ counts, total }: { counts: NonNullable<ReviewPage['rating_counts']>; total: number }) {
  return (
    <ul class="bars" aria-label="Reviews by stars">
      {STARS.map((stars) => (
        <li key={stars}>
          <span>{stars === 1 ? '1 star' : `${stars} stars`}</span>
          <progress max={total} value={counts[stars]} aria-hidden="true" />
          <span>{counts[stars]}</span>
        </li>
      ))}
    </ul>
  );
}

/** The finished paid runs of the reviewer. */
function paidRunsOf({ paid_runs: runs = 0 }: Review): string {
  if (runs === 1) return '1 paid run';
  return runs < PAID_RUNS_COUNTED ? `${runs} paid runs` : `${PAID_RUNS_COUNTED} or more paid runs`;
}
