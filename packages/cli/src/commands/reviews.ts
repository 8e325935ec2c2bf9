import type { CliEnvironment } from '../cli-environment.js';
import { UsageError } from '../errors.js';
import { dayOf, latestShown, limitOf } from '../lists.js';
import { connect, type Connected } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { listingOf } from '../project/registrations.js';
import { report } from '../report.js';

type Page = Awaited<ReturnType<Connected['client']['listReviews']>>;

/** `agent-rental reviews`: the newest reviews of a listing, with the creator's answers. */
export async function reviewsCommand(
  named: string | undefined,
  options: MarketplaceOptions & { limit?: string },
  environment: CliEnvironment,
): Promise<void> {
  const limit = limitOf(options);
  const { client, url } = connect(options, environment);
  const id = listingOf(named, environment.folder, url);
  const page = await client.listReviews(id, { limit }, { signal: environment.signal });
  report(options, environment, page, linesOf(id, page));
}

/** `agent-rental answer`: the creator's answer to a review, in place of an earlier one, or its removal. */
export async function answerCommand(
  { listing, reviewer, text }: { listing: string; reviewer: string; text: string | undefined },
  options: MarketplaceOptions & { remove?: true },
  environment: CliEnvironment,
): Promise<void> {
  if ((text === undefined) !== (options.remove === true)) {
    throw new UsageError('Give the text of the answer, or --remove.');
  }
  const { client } = connect(options, environment);
  const { signal } = environment;
  const review = await (text === undefined
    ? client.deleteReviewAnswer(listing, reviewer, { signal })
    : client.answerReview(listing, reviewer, text, { signal }));
  const done = text === undefined ? 'has no answer now.' : 'is answered.';
  report(options, environment, review, [`The review of ${listing} by ${reviewer} ${done}`]);
}

function linesOf(id: string, { reviews, total, rating_counts: counts }: Page): string[] {
  if (total === 0) return [`${id} has no reviews.`];
  const told = Object.entries(counts ?? {}).toReversed();
  return [
    `${total} reviews${told.map(([stars, count]) => `, ${stars} stars: ${count}`).join('')}`,
    ...reviews.flatMap(({ reviewer, rating, comment, updated_at: at, answer }) => [
      `${rating} of 5, ${dayOf(at)}, ${reviewer}`,
      ...indented(comment ?? '', '  '),
      ...(answer === undefined
        ? []
        : [`  Answer, ${dayOf(answer.answered_at)}:`, ...indented(answer.text, '    ')]),
    ]),
    ...latestShown(reviews.length, total),
  ];
}

const indented = (text: string, margin: string): string[] =>
  text === '' ? [] : text.split('\n').map((line) => margin + line);
