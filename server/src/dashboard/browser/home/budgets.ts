import { formatSol, type ApiKey } from '@agent-rental/contract';
import { element, words } from '../markup.js';
import { find, type Session } from '../wallets.js';

const LABEL_CHARACTERS = 100;
const COLUMNS = ['Limit in 24 hours', 'Left for runs', 'Left for rentals and deposits'];

/** Shows what each API key and connected app may still spend now. */
export async function showBudgets(root: HTMLElement, { client }: Session): Promise<void> {
  const { api_keys: keys } = await client.listApiKeys();
  find(root, '#no-budgets').hidden = keys.length > 0;
  const place = find(root, '#budgets');
  if (keys.length === 0) return place.replaceChildren();
  const table = element(
    'table',
    {},
    element(
      'thead',
      {},
      element('tr', {}, ...['Key or app', ...COLUMNS].map((name) => element('th', { scope: 'col' }, name))),
    ),
    element('tbody', {}, ...keys.map(rowOf)),
  );
  place.replaceChildren(
    element('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Budgets' }, table),
  );
}

function rowOf({ label, app, policy, spent_24h: spent }: ApiKey): HTMLElement {
  const limit = policy?.max_day_lamports;
  const left = (used: number | undefined) =>
    limit === undefined || used === undefined ? 'no limit' : formatSol(Math.max(0, limit - used));
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row' },
      words(label, LABEL_CHARACTERS),
      // The service knows the host; the app gave its own name.
      ...(app === undefined ? [] : [`, at ${app.redirect_host}`]),
    ),
    element('td', {}, limit === undefined ? 'no limit' : formatSol(limit)),
    element('td', {}, left(spent?.runs_lamports)),
    element('td', {}, policy?.can_rent === false ? 'may not rent' : left(spent?.rentals_lamports)),
  );
}
