/** The script of the pages that need a wallet: each finds its own part of the page. */
// First: it must be set before any schema is made.
// oxlint-disable-next-line import/no-unassigned-import
import './no-eval.js';
import { answerApproval } from './approvals/one-approval.js';
import { listApprovals } from './approvals/open-approvals.js';
import { askConsent } from './consent/consent.js';
import { showHome } from './home/home.js';
import { showConsole } from './operator/operator.js';
import { showOwnAgent } from './own-agents/own-agent.js';
import { showOwnAgents } from './own-agents/own-agents.js';
import { publishAgent } from './publishing/publish-agent.js';
import { showEvents } from './notices/events-page.js';
import { manageKeys } from './keys.js';
import { offerPayment } from './pay.js';
import { showRun } from './renter/run.js';
import { showRuns } from './renter/runs.js';
import { offerTry } from './renter/try-agent.js';
import { offerDevelopmentWallets } from './session/development-wallet.js';
import { showTour } from './session/tour.js';
import { offerReport, offerReview } from './reviews/review.js';

const PARTS: Readonly<Record<string, (root: HTMLElement) => void>> = {
  pay: offerPayment,
  keys: manageKeys,
  approvals: listApprovals,
  approval: answerApproval,
  consent: askConsent,
  events: showEvents,
  home: showHome,
  runs: showRuns,
  run: showRun,
  try: offerTry,
  creator: showOwnAgents,
  'publish-agent': publishAgent,
  'own-agent': showOwnAgent,
  operator: showConsole,
  report: offerReport,
  review: offerReview,
};

const parts = Object.entries(PARTS).flatMap(([id, begin]) => {
  const root = document.getElementById(id);
  return root ? [{ root, begin }] : [];
});
offerDevelopmentWallets(parts[0]?.root);
showTour(1);
for (const { root, begin } of parts) begin(root);
