import { OPTIONAL_MANIFEST_FIELDS, RENTAL_TERMS } from '@agent-rental/contract';
import { update, updateAgent } from '@agent-rental/sdk/solana';
import { find, say, work } from '../wallets.js';
import { element, visible } from '../markup.js';
import { respondTo } from '../events.js';
import { findForm } from '../fields.js';
import { endOfJob } from '../publishing/jobs.js';
import type { ShownAgent } from './shown-agent.js';
import { changesBetween, publicPartOf, publicPartOfManifest } from './public-changes.js';
import { showSecret } from '../publishing/publication.js';
import { showChanges } from './show-changes.js';
import { announced } from '../signing.js';
import type { Draft } from '../publishing/typed-agent.js';
import { showViolations, type Violation } from '../publishing/violations.js';

/** Terms that the chain keeps, once a listing is published. */
const ON_CHAIN = ['rental_model', 'price_lamports', 'min_deposit_lamports'];
const REASON_CHARACTERS = 500;

/** The on-chain members of an update. */
type OnChain = Parameters<typeof update>[3];

/** Takes the next version of an agent as a manifest, shows its changes, and sends it with the wallet's signature. */
export function offerUpdate(shown: ShownAgent): void {
  const { root, manifest } = shown;
  const form = findForm(root, '#update-form');
  manifest.whenChanged(() => compare(shown, manifest.read()));
  respondTo(form, 'submit', () =>
    work(root, 'It was not updated.', async () => {
      const draft = manifest.read();
      showViolations(form, manifest.list, draft.faults);
      if (draft.faults.length > 0) throw new Error('See the faults of the manifest below.');
      compare(shown, draft);
      const refused = await send(shown, draft);
      showViolations(form, manifest.list, refused);
      if (refused.length > 0) throw new Error('See below why the marketplace refuses it.');
      manifest.forgetKey();
      await shown.refresh('Updated: the next run runs the new version.');
    }),
  );
}

function compare({ root, listing }: ShownAgent, { body }: Draft): void {
  // A text that is no manifest has nothing to compare.
  if (listing === undefined || Object.keys(body).length === 0) return;
  showChanges(
    find(root, '#update-changes'),
    changesBetween(publicPartOf(listing), publicPartOfManifest(body)),
  );
}

/** Sends a version and its listing members. @returns the violations that the marketplace found */
async function send(shown: ShownAgent, { body }: Draft): Promise<readonly Violation[]> {
  const { listing: terms, ...fields } = body;
  const said = shown.agent.status === 'draft' ? terms : saidOf(terms);
  const removed = OPTIONAL_MANIFEST_FIELDS.filter((name) => fields[name] === undefined);
  const changes = {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...fields,
    ...(said === undefined ? {} : { listing: said }),
  };
  return sendChanges(shown, changes, priceChange(shown, terms));
}

/**
 * Sends changes of an agent, follows their job, and makes the on-chain changes.
 *
 * @returns the violations that the marketplace found
 */
export async function sendChanges(
  shown: ShownAgent,
  changes: Readonly<Record<string, unknown>>,
  onChain: OnChain,
): Promise<readonly Violation[]> {
  const { root, session, agent } = shown;
  say(root, `${session.name} asks you to sign the new version. It pays nothing.`);
  const answer = await updateAgent(session.client, session.signer, agent.listing_id, changes);
  showSecret(root, answer.webhook_secret);
  const { change } = answer;
  if (change?.kind === 'breaking') {
    const reasons = change.reasons.map((reason) => visible(reason, REASON_CHARACTERS)).join('; ');
    find(root, '#update-changes').append(
      element('p', { class: 'note' }, `Breaking: some calls that worked before may be refused: ${reasons}`),
    );
  }
  return settleUpdate(shown, answer.job_id, onChain);
}

/**
 * Follows the job of a change to its end, and makes its on-chain changes.
 *
 * @param onChain further on-chain changes
 * @returns the violations that the marketplace found
 */
export async function settleUpdate(
  { root, session, agent }: ShownAgent,
  jobId: string,
  onChain: OnChain,
): Promise<readonly Violation[]> {
  say(root, 'The marketplace checks it.');
  const job = await endOfJob(session.client, jobId);
  if (job.status === 'failed') {
    const details = job.error?.details ?? [];
    return details.length > 0 ? details : [{ path: '', message: job.error?.message ?? 'It was refused.' }];
  }
  const uri = job.next_action?.body['metadata_uri'];
  const changes = { ...onChain, ...(typeof uri === 'string' ? { metadata_uri: uri } : {}) };
  if (Object.keys(changes).length === 0 || agent.status === 'draft') return [];
  const { listing_id: id } = agent;
  const what = `it writes the new version of ${id} on-chain.`;
  await update(session.client, session.signer, id, changes, announced(root, session, what));
  return [];
}

/** The listing members of a manifest, without the on-chain ones. */
function saidOf(terms: unknown): Record<string, unknown> | undefined {
  if (terms === undefined) return undefined;
  const said = Object.entries(Object(terms) as object).filter(([name]) => !ON_CHAIN.includes(name));
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

/** The price of a manifest, where it is another than the listing's. */
function priceChange({ listing }: ShownAgent, terms: unknown): OnChain {
  const { price_lamports: price, min_deposit_lamports: deposit } = Object(terms) as Record<string, unknown>;
  if (listing === undefined || typeof price !== 'number' || price === listing.price_lamports) return {};
  return {
    price_lamports: price,
    // Without a deposit, the price is the deposit, too.
    ...(RENTAL_TERMS[listing.rental_model].isPrepaid
      ? { min_deposit_lamports: typeof deposit === 'number' ? deposit : price }
      : {}),
  };
}
