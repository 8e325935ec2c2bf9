import { REVIEW_ANSWER_CHARACTERS, type Review } from '@agent-rental/contract';
import { respondTo } from '../events.js';
import { buttonOf, element, words } from '../markup.js';
import { find, say, work, type Session } from '../wallets.js';

const PAGE = 20;
/** As `createReviewBody` of the contract has it. */
const COMMENT_CHARACTERS = 2_000;

/** Shows the newest reviews of an own listing, each with its answer, which the creator writes, changes and removes. */
export async function offerAnswers(root: HTMLElement, session: Session, listingId: string): Promise<void> {
  const list = find(root, '#review-list');
  const more = find(root, '#more-reviews');
  list.replaceChildren();
  let read = 0;
  const showNext = async () => {
    const page = await session.client.listReviews(listingId, { limit: PAGE, offset: read });
    read += page.reviews.length;
    list.append(...page.reviews.map((review) => reviewOf(root, session, listingId, review)));
    if (page.total === 0) list.append(element('p', {}, 'No renter has reviewed it yet.'));
    more.hidden = page.reviews.length < PAGE || read >= page.total;
  };
  respondTo(more, 'click', () =>
    work(root, 'Earlier reviews cannot be shown.', async () => {
      await showNext();
      say(root, `${read} reviews are shown.`);
    }),
  );
  await showNext();
}

function reviewOf(root: HTMLElement, session: Session, listingId: string, review: Review): HTMLElement {
  const { reviewer, rating, comment, updated_at: at, answer } = review;
  const wallet = `${reviewer.slice(0, 4)}...${reviewer.slice(-4)}`;
  const text = element('textarea', { rows: '3', maxlength: String(REVIEW_ANSWER_CHARACTERS) });
  text.value = answer?.text ?? '';
  const replace = (answered: Review, done: string) => {
    article.replaceWith(reviewOf(root, session, listingId, answered));
    say(root, done);
  };
  const send = element('button', { type: 'submit' }, answer ? 'Change the answer' : 'Answer');
  const remove = buttonOf('Remove the answer', () =>
    work(root, 'The answer was not removed.', async () =>
      replace(await session.client.deleteReviewAnswer(listingId, reviewer), 'The answer was removed.'),
    ),
  );
  const form = element(
    'form',
    { class: 'tall' },
    element('label', {}, `Your answer to wallet ${wallet}`, text),
    element('p', { class: 'row' }, send, ...(answer ? [remove] : [])),
  );
  respondTo(form, 'submit', () =>
    work(root, 'The answer was not published.', async () =>
      replace(
        await session.client.answerReview(listingId, reviewer, text.value),
        'Your answer is published, below the review.',
      ),
    ),
  );
  const article = element(
    'article',
    { class: 'review' },
    element('h3', {}, `${rating} of 5, ${at.slice(0, 10)}, wallet ${wallet}`),
    ...(comment === null ? [] : [element('p', {}, words(comment, COMMENT_CHARACTERS))]),
    form,
  );
  return article;
}
