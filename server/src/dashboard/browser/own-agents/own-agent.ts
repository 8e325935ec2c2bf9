import { STATS_WINDOWS, type ListingEarnings, type OwnAgent } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import { rotateWebhookSecret } from '@agent-rental/sdk/solana';
import { logIn } from '../session/log-in.js';
import { find, say, work, type Session } from '../wallets.js';
import { showCharts } from './agent-charts.js';
import { showAgentRuns } from './agent-runs.js';
import { offerSale } from './agent-sale.js';
import { offerUpdate } from './agent-update.js';
import { offerVersions } from './agent-versions.js';
import { agentProblems, amountsOf, priceWords } from './agent-words.js';
import { offerEdit } from './edit-agent.js';
import { offerTabs } from './tabs.js';
import { element, facts, words } from '../markup.js';
import { respondTo } from '../events.js';
import { findSelect } from '../fields.js';
import { manifestInput, type ManifestInput } from '../publishing/manifest-input.js';
import { tellNet } from '../publishing/net-price.js';
import { offerPublication, showSecret } from '../publishing/publication.js';
import type { ShownAgent } from './shown-agent.js';
import { statsFacts } from './stats-facts.js';
import { offerAnswers } from '../reviews/answers.js';

const PAGE = 100;
const TITLE_CHARACTERS = 120;

/** Shows one agent of a wallet of this browser, and changes it. */
export function showOwnAgent(root: HTMLElement): void {
  const manifest = manifestInput(root);
  tellNet(root);
  logIn(root, {
    failed: 'You do not see it.',
    onSession: async (session) => {
      find(root, '#logged-in').hidden = true;
      await showAgent(root, session, manifest);
      find(root, '#logged-in').hidden = false;
      say(root, `Logged in as ${session.signer.address}.`);
    },
  });
}

async function showAgent(root: HTMLElement, session: Session, manifest: ManifestInput): Promise<void> {
  const id = root.dataset['listing'] ?? '';
  const agent = await findAgent(session.client, id);
  const isDraft = agent.status === 'draft';
  const listing = isDraft ? undefined : await session.client.getListing(id);
  const shown: ShownAgent = {
    root,
    session,
    agent,
    listing,
    manifest,
    refresh: async (done) => {
      await showAgent(root, session, manifest);
      say(root, done);
    },
  };
  find(root, '#agent-facts').replaceChildren(...factsOf(agent));
  find(root, '#publication').hidden = !isDraft;
  find(root, '#draft').hidden = !isDraft;
  if (isDraft) offerDraft(shown);
  await showStatistics(shown);
  if (!isDraft) await showAgentRuns(shown);
  offerVersions(shown);
  offerUpdate(shown);
  offerEdit(shown);
  offerSale(shown);
  offerTabs(root, (tab) => isOffered(tab, shown));
  if (!isDraft) await offerAnswers(root, session, id);
  respondTo(find(root, '#rotate'), 'click', () =>
    work(root, 'The secret was not replaced.', async () => {
      say(root, `${session.name} asks you to sign that the webhook secret is replaced. It pays nothing.`);
      const { webhook_secret: secret } = await rotateWebhookSecret(session.client, session.signer, id);
      showSecret(root, secret);
      say(root, 'The secret was replaced. Copy the new one now: it is not shown again.');
    }),
  );
}

/** Whether a tab has anything to show of an agent in its state. */
function isOffered(tab: string, { agent: { status }, listing }: ShownAgent): boolean {
  const isDraft = status === 'draft';
  switch (tab) {
    case 'versions':
      return !isDraft && (listing?.version ?? 1) > 1;
    case 'update':
      return status !== 'closed';
    case 'sale':
      return !isDraft && status !== 'closed';
    case 'runs':
    case 'reviews':
      return !isDraft;
    default:
      return true;
  }
}

/** An own agent, by its id: the list of them alone has drafts, too. @throws Error where there is none. */
async function findAgent(client: RentalClient, id: string): Promise<OwnAgent> {
  let cursor: string | undefined;
  do {
    const page = await client.listAgents({ limit: PAGE, ...(cursor && { cursor }) });
    const found = page.agents.find(({ listing_id: listed }) => listed === id);
    if (found) return found;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  throw new Error(`This wallet has no agent ${id}.`);
}

function factsOf(agent: OwnAgent): HTMLElement[] {
  const { title, status, version, listing_id: id } = agent;
  const price = priceWords(agent);
  const link = element('a', { href: `/dashboard/listings/${id}` }, 'as renters see it');
  return facts([
    ['Title', words(title, TITLE_CHARACTERS)],
    ['Status', status === 'draft' ? 'not published' : status],
    ['Version', String(version)],
    ...(price === undefined ? [] : [['Price', price] as const]),
    ...agentProblems(agent).map((problem) => ['Problem', problem] as const),
    ...(status === 'draft' ? [] : [['Listing', link] as const]),
  ]);
}

function offerDraft({ root, session, agent, refresh }: ShownAgent): void {
  const { listing_id: listingId, rental_model: model } = agent;
  offerPublication(root, session, { listingId, lacksTerms: model === null }, () =>
    refresh(`Published: ${listingId} is active, and can be rented.`),
  );
  respondTo(find(root, '#delete'), 'click', () =>
    work(root, 'It was not deleted.', async () => {
      await session.client.deleteAgent(listingId);
      find(root, '#logged-in').hidden = true;
      say(root, `The draft ${listingId} is deleted.`);
    }),
  );
}

/** Shows the statistics over the chosen window, and again when another one is chosen. */
async function showStatistics({ root, session, agent }: ShownAgent): Promise<void> {
  const id = agent.listing_id;
  const select = findSelect(root, '#window');
  const earned = agent.status === 'draft' ? undefined : await findEarnings(session.client, id);
  const show = async () => {
    const window = STATS_WINDOWS.find((one) => one === select.value) ?? STATS_WINDOWS[0];
    const stats = await session.client.getAgentStats(id, { window });
    const sums = earned === undefined ? [] : amountsOf(earned);
    find(root, '#stats-facts').replaceChildren(...facts([...sums, ...statsFacts(stats)]));
    showCharts(find(root, '#charts'), stats);
  };
  respondTo(select, 'change', () =>
    work(root, 'The statistics could not be read.', async () => {
      await show();
      say(root, `The statistics show the last ${select.value}.`);
    }),
  );
  await show();
}

async function findEarnings(client: RentalClient, id: string): Promise<ListingEarnings | undefined> {
  let cursor: string | undefined;
  do {
    const page = await client.getEarnings({ limit: PAGE, ...(cursor && { cursor }) });
    const found = page.earnings.find(({ listing_id: listed }) => listed === id);
    if (found) return found;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return undefined;
}
