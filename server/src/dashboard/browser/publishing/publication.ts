import type { Job } from '@agent-rental/contract';
import { publish } from '@agent-rental/sdk/solana';
import { find, findInput, say, work, type Session } from '../wallets.js';
import { element, visible } from '../markup.js';
import { respondTo } from '../events.js';
import { findForm, typedFields } from '../fields.js';
import { announced } from '../signing.js';
import { termsOf } from './typed-agent.js';

const NOTE_CHARACTERS = 1_000;

/** An agent that is registered and not yet published. */
export interface Registered {
  readonly listingId: string;
  /** It was registered without model and price. */
  readonly lacksTerms: boolean;
  readonly review?: Job['review'];
  readonly warnings?: Job['warnings'];
}

const REVIEW_WORDS = {
  approved: 'It passed its review.',
  pending: 'It waits for its review. Come back to it from "Your agents" when that has passed.',
  rejected: 'Its review rejected it.',
} as const;

/**
 * Offers to publish an agent, with the result of its review. The sdk checks the transaction before it asks the
 * wallet.
 */
export function offerPublication(
  root: HTMLElement,
  session: Session,
  { listingId, lacksTerms, review, warnings = [] }: Registered,
  onPublished: () => Promise<void>,
): void {
  find(root, '#review-state').textContent =
    `${listingId} is registered. ${review === undefined ? '' : REVIEW_WORDS[review.state]}`;
  const notes = [
    ...(review?.reasons ?? []),
    ...warnings.map(({ path, message }) => `Worth a change: ${path} ${message}`),
  ];
  find(root, '#review-notes').replaceChildren(
    ...notes.map((note) => element('li', {}, visible(note, NOTE_CHARACTERS))),
  );
  find(root, '#missing-terms').hidden = !lacksTerms;
  find(root, '#publication').hidden = false;
  const form = findForm(root, '#publish');
  respondTo(form, 'submit', () =>
    work(root, 'It was not published.', async () => {
      const fields = typedFields(form);
      const isSample = (path: string) => path === 'listing.sample_output';
      const listing = termsOf(new Map([...fields].filter(([path]) => lacksTerms || isSample(path))));
      say(root, 'The marketplace makes sure that the agent is up.');
      await publish(session.client, session.signer, listingId, {
        ...announced(root, session, `it publishes ${listingId}.`),
        ...(Object.keys(listing).length === 0 ? {} : { listing }),
        ...(findInput(root, '#unverified').checked ? { unverified: true } : {}),
      });
      find(root, '#publication').hidden = true;
      find(root, '#secret-part').hidden = true;
      await onPublished();
    }),
  );
}

/** Shows the secret of a connected agent, which no later answer has. */
export function showSecret(root: HTMLElement, secret: string | undefined): void {
  if (secret === undefined) return;
  find(root, '#webhook-secret').textContent = secret;
  find(root, '#secret-part').hidden = false;
}
