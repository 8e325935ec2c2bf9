import { formatSol, OPERATOR_REASON_CHARACTERS, type WaitingReview } from '@agent-rental/contract';
import { decideAsOperator } from '@agent-rental/sdk/solana';
import { momentOf } from '../elements.js';
import { buttonOf, element, facts, words } from '../markup.js';
import { find, say, work, type Session } from '../wallets.js';

const TITLE_CHARACTERS = 120;
const DESCRIPTION_CHARACTERS = 1_000;

/**
 * Shows the agents that wait for a review, each with its two decisions.
 *
 * @param onDecided is called after each decision
 */
export async function showReviews(
  root: HTMLElement,
  session: Session,
  onDecided: () => Promise<void>,
): Promise<void> {
  const { reviews } = await session.client.listOperatorReviews();
  const refresh = async () => {
    await showReviews(root, session, onDecided);
    await onDecided();
  };
  find(root, '#nothing-waits').hidden = reviews.length > 0;
  find(root, '#review-list').replaceChildren(
    ...reviews.map((review) => reviewCard(root, session, review, refresh)),
  );
}

function reviewCard(
  root: HTMLElement,
  session: Session,
  review: WaitingReview,
  refresh: () => Promise<void>,
): HTMLElement {
  const { listing_id: id, title, description, version, creator, price_lamports: price } = review;
  const decide = (
    verb: string,
    decision: () => Parameters<typeof decideAsOperator>[2],
  ): HTMLButtonElement => {
    const button = buttonOf(verb, () =>
      work(root, 'Nothing was decided.', async () => {
        const made = decision();
        say(root, `${session.name} asks you to sign the decision. It pays nothing.`);
        await decideAsOperator(session.client, session.signer, made);
        await refresh();
        say(root, `${id}: the decision is stored.`);
      }),
    );
    button.setAttribute('aria-label', `${verb} ${id}`);
    return button;
  };
  const reason = element('textarea', {
    'aria-label': `Reason to reject ${id}`,
    placeholder: 'The reason, for the creator',
    maxlength: String(OPERATOR_REASON_CHARACTERS),
    rows: '2',
  });
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
      ]),
    ),
    decide('Approve', () => ({ action: 'approve', listing_id: id, version })),
    reason,
    decide('Reject', () => {
      const said = reason.value.trim();
      if (said === '') throw new Error('The creator has to know the reason.');
      return { action: 'reject', listing_id: id, reason: said };
    }),
  );
}
