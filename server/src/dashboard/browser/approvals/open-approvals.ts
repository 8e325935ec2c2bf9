import { formatSol } from '@agent-rental/contract';
import type { SpendingApproval } from '@agent-rental/contract';
import { titleLine } from '../../words.js';
import { element, fact, momentOf } from '../elements.js';
import { logIn } from '../session/log-in.js';
import { find, say } from '../wallets.js';

/** Lists the questions of a wallet's API keys, each with the page of its answer. */
export function listApprovals(root: HTMLElement): void {
  logIn(root, {
    failed: 'The questions of your keys cannot be shown.',
    onSession: async ({ client, signer }) => {
      const { approvals } = await client.listApprovals();
      find(root, '#list').replaceChildren(...approvals.map(card));
      find(root, '#none').hidden = approvals.length > 0;
      find(root, '#questions').hidden = false;
      say(root, `Logged in as ${signer.address}.`);
    },
  });
}

function card({ id, kind, lamports, listing_id, api_key_label, expires_at }: SpendingApproval): HTMLElement {
  const href = `/dashboard/approvals/${encodeURIComponent(id)}`;
  const asking = api_key_label === null ? 'not known' : element('bdi', { text: titleLine(api_key_label) });
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, element('a', { href, text: `Up to ${formatSol(lamports)}` })),
    element(
      'dl',
      { class: 'facts' },
      ...fact(kind === 'run' ? 'For one run of' : 'For renting', listing_id),
      ...fact('Asked by your key or app', asking),
      ...fact('Answer until', momentOf(expires_at)),
    ),
  );
}
