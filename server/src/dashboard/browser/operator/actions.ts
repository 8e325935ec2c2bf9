import { momentOf } from '../elements.js';
import { element, words } from '../markup.js';
import { find } from '../wallets.js';
import type { Console } from './decisions.js';

const REASON_CHARACTERS = 1_000;
const COLUMNS = ['Time', 'Decision', 'Subject', 'Reason', 'Operator', 'Signature'];

/** Shows the newest decisions on record. */
export async function showActions({ root, session }: Console): Promise<void> {
  const { actions } = await session.client.listOperatorActions();
  const rows = actions.map((made) =>
    element(
      'tr',
      {},
      ...[
        momentOf(made.created_at),
        made.action,
        element('code', {}, made.subject),
        words(made.reason ?? '', REASON_CHARACTERS),
        element('code', {}, made.operator),
        element('code', {}, made.signature ?? 'none'),
      ].map((cell) => element('td', {}, cell)),
    ),
  );
  if (rows.length === 0) {
    return find(root, '#action-list').replaceChildren(element('caption', {}, 'No decision is on record.'));
  }
  const head = element('tr', {}, ...COLUMNS.map((name) => element('th', { scope: 'col' }, name)));
  find(root, '#action-list').replaceChildren(element('thead', {}, head), element('tbody', {}, ...rows));
}
