import { textOf } from './approval-part.js';
import { element, facts, show, sol, tell } from './elements.js';
import { connectHost } from './host.js';

/** The answer of `show_receipt`. */
interface Shown {
  receipt?: Record<string, unknown>;
  checks?: { ok: boolean; text: string }[];
}

void connectHost(({ content, structuredContent = {} }) => {
  const { receipt, checks = [] } = structuredContent as Shown;
  if (receipt === undefined) {
    show(element('h1', ['Receipt']), element('p', [textOf(content)], 'words'));
    return;
  }
  show(
    element('h1', ['Receipt']),
    facts([
      ['Agent', receipt['listing_id']],
      ['Run', receipt['run_id']],
      ['Status', receipt['status']],
      ['Cost', sol(receipt['cost_lamports'])],
      ['Ended', receipt['finished_at']],
      ['Transaction', receipt['charge_signature']],
    ]),
    element('h2', ['Checks']),
    element(
      'ul',
      checks.map(({ ok, text }) => element('li', [`${ok ? '✓' : '✗'} ${text}`], ok ? 'good' : 'bad')),
    ),
  );
  tell(checks.every(({ ok }) => ok) ? 'All checks passed.' : 'A check failed, or waits.');
});
