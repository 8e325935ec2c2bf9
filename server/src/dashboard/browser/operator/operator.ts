import type { OperatorOverview } from '@agent-rental/contract';
import { logIn } from '../session/log-in.js';
import { facts } from '../markup.js';
import { find, say, type Session } from '../wallets.js';
import { showActions } from './actions.js';
import type { Console } from './decisions.js';
import { showOperatorCharts } from './operator-charts.js';
import { offerFinding } from './records.js';
import { showReports } from './reports.js';
import { showReviews } from './reviews.js';

/** Shows the operator's console to a wallet of the operator. */
export function showConsole(root: HTMLElement): void {
  logIn(root, {
    failed: 'The console is for the wallets of the operator.',
    onSession: async (session) => {
      find(root, '#logged-in').hidden = true;
      offerFinding(await showAll(root, session));
      find(root, '#logged-in').hidden = false;
      say(root, `Logged in as ${session.signer.address}.`);
    },
  });
}

async function showAll(root: HTMLElement, session: Session): Promise<Console> {
  const overview = await session.client.getOperatorOverview();
  find(root, '#facts').replaceChildren(...facts(stateOf(overview)));
  showOperatorCharts(find(root, '#charts'), overview.days);
  const isAdmin = overview.admin === session.signer.address;
  const console: Console = {
    root,
    session,
    isAdmin,
    refresh: async () => void (await showAll(root, session)),
  };
  await Promise.all([showReviews, showReports, showActions].map((show) => show(console)));
  return console;
}

const stateOf = ({ ready, reasons, waiting_reviews: reviews }: OperatorOverview): [string, string][] => [
  ['Service', ready ? 'ready' : `not ready: ${reasons.join(', ')}`],
  ['Waiting reviews', String(reviews)],
];
