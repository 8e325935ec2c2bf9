import { formatSol } from '@agent-rental/contract';
import type { SpendingApproval } from '@agent-rental/contract';
import { momentOf } from '../elements.js';
import { logIn } from '../session/log-in.js';
import { find, say } from '../wallets.js';
import { quoted } from './quoted.js';

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
  const item = document.createElement('li');
  item.className = 'card';
  const link = document.createElement('a');
  link.href = `/dashboard/approvals/${encodeURIComponent(id)}`;
  link.textContent = `Up to ${formatSol(lamports)}`;
  const heading = document.createElement('h3');
  heading.append(link);
  const words = document.createElement('p');
  const what = kind === 'run' ? 'One run of' : 'Renting';
  const asking = api_key_label === null ? 'A key' : quoted(api_key_label);
  words.textContent = `${what} ${listing_id}. ${asking} asks until ${momentOf(expires_at)}.`;
  item.append(heading, words);
  return item;
}
