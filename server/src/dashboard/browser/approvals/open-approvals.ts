import type { SpendingApproval } from '@agent-rental/contract';
import { connect, find, offerWallets, say, solOf } from '../wallets.js';
import { quoted } from './quoted.js';

/** Lists what the API keys of a wallet ask, each with the page where it is answered. */
export function listApprovals(root: HTMLElement): void {
  offerWallets(root, {
    verb: 'Log in with',
    failed: 'You are not logged in.',
    onChosen: async (wallet) => {
      const { client, signer } = await connect(root, wallet);
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
  link.textContent = `Up to ${solOf(lamports)}`;
  const heading = document.createElement('h3');
  heading.append(link);
  const words = document.createElement('p');
  const what = kind === 'run' ? 'One run of' : 'Renting';
  const asking = api_key_label === null ? 'A key' : quoted(api_key_label);
  words.textContent = `${what} ${listing_id}. ${asking} asks until ${new Date(expires_at).toLocaleString()}.`;
  item.append(heading, words);
  return item;
}
