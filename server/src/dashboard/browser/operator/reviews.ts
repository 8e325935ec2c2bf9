import { formatSol, type WaitingReview } from '@agent-rental/contract';
import { momentOf } from '../elements.js';
import { element, facts, words } from '../markup.js';
import { find } from '../wallets.js';
import { reviewPart } from './records.js';
import { decisionButton, reasonField, type Console } from './decisions.js';

const TITLE_CHARACTERS = 120;
const DESCRIPTION_CHARACTERS = 1_000;
const REASON_CHARACTERS = 1_000;

/** Shows the agents that wait for a review, each with its two decisions. */
export async function showReviews(console: Console): Promise<void> {
  const { root, session } = console;
  const { reviews } = await session.client.listOperatorReviews();
  find(root, '#nothing-waits').hidden = reviews.length > 0;
  find(root, '#review-list').replaceChildren(...reviews.map((review) => reviewCard(console, review)));
}

function reviewCard(console: Console, review: WaitingReview): HTMLElement {
  const { listing_id: id, title, description, version, creator, price_lamports: price } = review;
  const { field, read } = reasonField(`Reason to reject ${id}`, 'The reason, for the creator');
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, words(title, TITLE_CHARACTERS)),
    element('p', {}, words(description, DESCRIPTION_CHARACTERS)),
    element(
      'dl',
      { class: 'facts' },
      ...facts([
        ['Listing', element('code', {}, id)],
        ['Version', String(version)],
        ['Creator', element('code', {}, creator)],
        ['Terms', price === null ? 'not named yet' : `${review.rental_model}, ${formatSol(price)}`],
        ['Waits since', momentOf(review.created_at)],
        ...(review.unreachable
          ? [['Not reached', words(review.unreachable.message, REASON_CHARACTERS)] as const]
          : []),
      ]),
    ),
    reviewPart(console, id),
    field,
    element(
      'p',
      { class: 'links' },
      decisionButton(console, {
        verb: 'Approve',
        subject: id,
        decision: () => ({ action: 'approve', listing_id: id, version }),
      }),
      decisionButton(console, {
        verb: 'Reject',
        subject: id,
        decision: () => ({ action: 'reject', listing_id: id, reason: read() }),
      }),
    ),
  );
}
