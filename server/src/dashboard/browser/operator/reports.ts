import type { OperatorReport } from '@agent-rental/contract';
import { momentOf } from '../elements.js';
import { element, facts, words } from '../markup.js';
import { find } from '../wallets.js';
import { moderationPart } from './moderation.js';
import { decisionButton, reasonField, type Console } from './decisions.js';

const TITLE_CHARACTERS = 120;
const REPORT_CHARACTERS = 1_000;

/** Shows the listings with open reports, which the operator closes; and bans a creator. */
export async function showReports(console: Console): Promise<void> {
  const { root, session } = console;
  const { listings } = await session.client.listOperatorReports();
  find(root, '#no-reports').hidden = listings.length > 0;
  find(root, '#report-list').replaceChildren(...listings.map((listing) => reportCard(console, listing)));
}

function reportCard(console: Console, listing: OperatorReport): HTMLElement {
  const { listing_id: id, title, creator, reasons, reports } = listing;
  const { field, read } = reasonField(`Reason of the decision about ${id}`, 'The reason, for the record');
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, words(title, TITLE_CHARACTERS)),
    element(
      'dl',
      { class: 'facts' },
      ...facts([
        ['Listing', element('a', { href: `/dashboard/listings/${id}` }, id)],
        ['Status', listing.status],
        ['Creator', element('code', {}, creator)],
        [
          'Open reports',
          Object.entries(reasons)
            .map(([reason, count]) => `${count} ${reason}`)
            .join(', '),
        ],
        ['Closed reports', String(listing.closed)],
      ]),
    ),
    ...reports.map(({ wallet, text, reason, created_at: at }) =>
      element(
        'p',
        {},
        `${momentOf(at)}, ${reason}, by `,
        element('code', {}, wallet),
        ': ',
        words(text, REPORT_CHARACTERS),
      ),
    ),
    field,
    element(
      'div',
      { class: 'links' },
      moderationPart(console, { id, status: listing.status, read }),
      decisionButton(console, {
        verb: 'Close reports of',
        subject: id,
        decision: () => ({ action: 'resolve_reports', listing_id: id, reason: read() }),
      }),
      decisionButton(console, {
        verb: 'Ban creator',
        subject: creator,
        decision: () => ({ action: 'ban', wallet: creator, reason: read() }),
      }),
    ),
  );
}
