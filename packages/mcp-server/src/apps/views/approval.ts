import { answers, BUDGETS, question, textOf, webAddress } from './approval-part.js';
import { element, facts, show, sol } from './elements.js';
import { connectHost } from './host.js';

/** The answer of `rent_listing`, as far as this view shows it. */
interface Offer {
  agent_id?: string;
  title?: string;
  rented?: boolean;
  rent_url?: string;
  warning?: string;
  price?: Record<string, unknown>;
}

void connectHost(({ content, structuredContent = {}, _meta: meta = {} }, host) => {
  const offer = structuredContent as Offer;
  const error = meta['agent-rental/error'] as { approval_url?: string } | undefined;
  const url = webAddress(offer.rent_url) ?? webAddress(error?.approval_url);
  const { price = {} } = offer;
  const rows = [
    ['Agent', offer.title],
    ['Id', offer.agent_id],
    ...Object.entries(price)
      .filter(([name]) => name.endsWith('_lamports'))
      .map(([name, value]) => [name.replace(/_lamports$/, '').replaceAll('_', ' '), sol(value)]),
    ['Budget', url === undefined ? undefined : BUDGETS['rental']],
  ] as [string, unknown][];
  show(
    element('h1', [url === undefined ? 'Rental' : 'Payment']),
    offer.title === undefined ? element('p', [textOf(content)], 'words') : facts(rows),
    question(meta),
    offer.warning === undefined ? undefined : element('p', [offer.warning], 'warning'),
    url === undefined ? undefined : answers(host, url),
  );
});
