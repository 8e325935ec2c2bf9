import { formatSol, APPROVAL_HOLDS_MINUTES, type SpendingApproval } from '@agent-rental/contract';
import { approveSpending } from '@agent-rental/sdk/solana';
import { momentOf } from '../elements.js';
import { logIn } from '../session/log-in.js';
import { find, say, work, type Session } from '../wallets.js';
import type { ElementSelector } from '../../element-ids.js';
import { titleLine } from '../../words.js';

const NOT_ANSWERED = 'Your answer was not taken.';

/** Shows one question of an API key to its wallet, and takes the answer. */
export function answerApproval(root: HTMLElement): void {
  const id = root.dataset['approval'] ?? '';
  let shown: { session: Session; approval: SpendingApproval } | undefined;
  logIn(root, {
    failed: 'You cannot see this question.',
    onSession: async (session) => {
      const approval = await session.client.getApproval(id);
      shown = { session, approval };
      show(root, approval);
      say(root, `Logged in as ${session.signer.address}.`);
    },
  });
  find(root, '#approve').addEventListener('click', () => {
    const now = shown;
    if (now) work(root, NOT_ANSWERED, () => approve(root, now.session, now.approval));
  });
  find(root, '#refuse').addEventListener('click', () => {
    const now = shown;
    if (now) work(root, NOT_ANSWERED, () => refuse(root, now.session));
  });
}

async function approve(root: HTMLElement, session: Session, approval: SpendingApproval): Promise<void> {
  say(root, `${session.name} asks you to sign your answer. It pays nothing by itself.`);
  show(root, await approveSpending(session.client, session.signer, approval));
  say(root, 'Approved.');
}

async function refuse(root: HTMLElement, { client }: Session): Promise<void> {
  show(root, await client.answerApproval(root.dataset['approval'] ?? '', { answer: 'refuse' }));
  say(root, 'Refused.');
}

/** Amounts and facts of the service first, the creator's words last. */
function show(root: HTMLElement, approval: SpendingApproval): void {
  const { kind, lamports, listing_id, listing_title, api_key_label, state, expires_at } = approval;
  const put = (selector: ElementSelector, text: string) => (find(root, selector).textContent = text);
  const isOpen = state === 'open';
  put('#amount', `Up to ${formatSol(lamports)}`);
  put(
    '#source',
    kind === 'run'
      ? 'Your prepaid balance, for one run'
      : 'Your wallet, as price or deposit of a rental; the network’s fee and account rent come on top',
  );
  put('#key-label', api_key_label === null ? 'not known' : titleLine(api_key_label));
  put('#agent', listing_id);
  find(root, '#agent').setAttribute('href', `/dashboard/listings/${encodeURIComponent(listing_id)}`);
  put('#until-label', isOpen ? 'Answer until' : 'The answer holds until');
  put('#until', momentOf(expires_at));
  put('#title', titleLine(listing_title));
  put('#approve', `Approve up to ${formatSol(lamports)}`);
  find(root, '#answers').hidden = !isOpen;
  put('#next', nextOf(state));
  find(root, '#question').hidden = false;
}

/** The next step. */
function nextOf(state: SpendingApproval['state']): string {
  switch (state) {
    case 'open':
      return `If you approve, the same call goes on when your agent makes it again within ${APPROVAL_HOLDS_MINUTES} minutes, once. Other calls ask anew.`;
    case 'approved':
      return `It is approved. Your agent goes on when it makes the same call again within ${APPROVAL_HOLDS_MINUTES} minutes; if it does not by itself, tell it to.`;
    case 'refused':
      return 'It is refused. Nothing is spent, and your agent is told so when it makes the same call again.';
    case 'used':
      return 'It was approved, and the call has been made.';
    case 'expired':
      return 'It has expired, and nothing was spent. Your agent asks anew when it makes the call again.';
    default:
      return state satisfies never;
  }
}
