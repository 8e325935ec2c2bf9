import { rollbackAgent } from '@agent-rental/sdk/solana';
import { find, say, work } from '../wallets.js';
import { settleUpdate } from './agent-update.js';
import { element } from '../markup.js';
import { respondTo } from '../events.js';
import { findForm, findSelect } from '../fields.js';
import type { ShownAgent } from './shown-agent.js';
import { changesBetween, publicPartOf } from './public-changes.js';
import { showChanges } from './show-changes.js';

/** Versions that can be chosen: the latest ones. */
const MOST_VERSIONS = 200;

/** Compares two versions of a published agent, and goes back to an earlier one. */
export function offerVersions(shown: ShownAgent): void {
  const { root, session, agent, listing, refresh } = shown;
  const latest = listing?.version ?? 1;
  if (listing === undefined) return;
  const id = agent.listing_id;
  const { client } = session;
  const before = findSelect(root, '#version-before');
  const after = findSelect(root, '#version-after');
  fill(before, latest, latest - 1);
  fill(after, latest, latest);
  const place = find(root, '#version-changes');
  place.replaceChildren();
  respondTo(findForm(root, '#compare'), 'submit', () =>
    work(root, 'The versions were not compared.', async () => {
      const [one, other] = [Number(before.value), Number(after.value)];
      const [old, present] = await Promise.all([
        client.getListing(id, { version: one }),
        client.getListing(id, { version: other }),
      ]);
      showChanges(place, changesBetween(publicPartOf(old), publicPartOf(present)));
      say(root, `See below how version ${other} differs from version ${one}.`);
    }),
  );
  const rollback = find(root, '#rollback');
  rollback.hidden = agent.status === 'closed';
  respondTo(rollback, 'click', () =>
    work(root, 'It runs the version that it ran.', async () => {
      const version = Number(before.value);
      say(root, `${session.name} asks you to sign that version ${version} runs again. It pays nothing.`);
      const { job_id: jobId } = await rollbackAgent(client, session.signer, id, version);
      const refused = await settleUpdate(shown, jobId, {});
      if (refused.length > 0) {
        throw new Error(refused.map(({ path, message }) => `${path} ${message}`.trim()).join('; '));
      }
      await refresh(`Version ${version} runs again, as the next version.`);
    }),
  );
}

function fill(select: HTMLSelectElement, latest: number, chosen: number): void {
  const first = Math.max(1, latest - MOST_VERSIONS + 1);
  const numbers = Array.from({ length: latest - first + 1 }, (_, index) => latest - index);
  select.replaceChildren(
    ...numbers.map((number) => element('option', { value: String(number) }, String(number))),
  );
  select.value = String(chosen);
}
