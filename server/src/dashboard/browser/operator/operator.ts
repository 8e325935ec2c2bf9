import type { OperatorOverview } from '@agent-rental/contract';
import { logIn } from '../session/log-in.js';
import { facts } from '../markup.js';
import { find, say, type Session } from '../wallets.js';
import { showOperatorCharts } from './operator-charts.js';
import { showReviews } from './reviews.js';

/** Shows the operator's console to a wallet of the operator. */
export function showConsole(root: HTMLElement): void {
  logIn(root, {
    failed: 'The console is for the wallets of the operator.',
    onSession: async (session) => {
      find(root, '#logged-in').hidden = true;
      await showOverview(root, session);
      await showReviews(root, session, () => showOverview(root, session));
      find(root, '#logged-in').hidden = false;
      say(root, `Logged in as ${session.signer.address}.`);
    },
  });
}

async function showOverview(root: HTMLElement, { client }: Session): Promise<void> {
  const overview = await client.getOperatorOverview();
  find(root, '#facts').replaceChildren(...facts(stateOf(overview)));
  showOperatorCharts(find(root, '#charts'), overview.days);
}

const stateOf = ({ ready, reasons, waiting_reviews: reviews }: OperatorOverview): [string, string][] => [
  ['Service', ready ? 'ready' : `not ready: ${reasons.join(', ')}`],
  ['Waiting reviews', String(reviews)],
];
