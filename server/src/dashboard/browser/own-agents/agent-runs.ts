import type { AgentRun } from '@agent-rental/contract';
import { RUN_STATUS_WORDS } from '../../words.js';
import { momentOf } from '../elements.js';
import { element } from '../markup.js';
import { secondsOf } from '../renter/runs.js';
import { find } from '../wallets.js';
import { offerMore } from './offer-more.js';
import type { ShownAgent } from './shown-agent.js';

const PAGE = 20;

/** Shows the runs of an agent, with the reason of each failure: the first page in place of the old list, or a later one. */
export async function showAgentRuns(shown: ShownAgent, cursor?: string): Promise<void> {
  const { root, session, agent } = shown;
  const page = await session.client.listAgentRuns(agent.listing_id, {
    limit: PAGE,
    ...(cursor && { cursor }),
  });
  const list = find(root, '#agent-runs');
  if (cursor === undefined) list.replaceChildren();
  list.append(...page.runs.map(cardOf));
  if (page.total === 0) list.append(element('li', {}, 'It has had no runs.'));
  offerMore(root, '#more-runs', page.next_cursor, (next) => showAgentRuns(shown, next));
}

function cardOf({ run_id: id, status, version, duration_ms: took, created_at: at, failure }: AgentRun) {
  const facts = [
    RUN_STATUS_WORDS[status],
    `version ${version}`,
    ...(took === null ? [] : [`took ${secondsOf(took)}`]),
  ];
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, momentOf(at)),
    element('p', {}, `${facts.join(', ')}.`),
    ...(failure === null ? [] : [element('p', { class: 'note' }, failure.message)]),
    element('p', { class: 'soft' }, element('code', {}, id)),
  );
}
