/** The script of the pages that need a wallet: each finds its own part of the page. */
import { answerApproval } from './approvals/one-approval.js';
import { listApprovals } from './approvals/open-approvals.js';
import { askConsent } from './consent/consent.js';
import { manageKeys } from './keys.js';
import { offerPayment } from './pay.js';

const PARTS: Readonly<Record<string, (root: HTMLElement) => void>> = {
  pay: offerPayment,
  keys: manageKeys,
  approvals: listApprovals,
  approval: answerApproval,
  consent: askConsent,
};

for (const [id, begin] of Object.entries(PARTS)) {
  const root = document.getElementById(id);
  if (root) begin(root);
}
