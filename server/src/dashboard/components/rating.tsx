import type { ListingSummary } from '@agent-rental/contract';

/** The average rating of a listing, with the number of its reviews. */
export function Rating({ rating, review_count: count }: Pick<ListingSummary, 'rating' | 'review_count'>) {
  if (count === 0) return <span>No reviews yet</span>;
  return (
    <span>
      <span class="stars" aria-hidden="true">
        ★
      </span>{' '}
      <span class="unseen">Rated </span>
      {rating.toFixed(1)}
      <span class="unseen"> of 5 by</span> ({count})
    </span>
  );
}

/** The stars of one review. */
export function Stars({ rating }: { rating: number }) {
  const full = Math.round(rating);
  return (
    <span class="stars" role="img" aria-label={`Rated ${rating} of 5`}>
      {'★'.repeat(full) + '☆'.repeat(5 - full)}
    </span>
  );
}
