import { decideAsOperator } from '@agent-rental/sdk/solana';
import { respondTo } from '../events.js';
import { findForm } from '../fields.js';
import { buttonOf, element, visible } from '../markup.js';
import { find, findInput, say, work } from '../wallets.js';
import { moderationPart } from './moderation.js';
import { decisionButton, reasonField, type Console } from './decisions.js';

/** An agent with its README, prompt and schemas. */
const RECORD_CHARACTERS = 200_000;

/** Finds runs, wallets and listings by their id. A run can be credited. */
export function offerFinding(console: Console): void {
  const { root, session } = console;
  const form = findForm(root, '#find-form');
  const show = async (id: string) => {
    const { kind, found } = await session.client.findForOperator(id);
    const parts: HTMLElement[] = [recordOf(`The ${kind} ${id}`, found)];
    if (kind === 'run' && !id.startsWith('req_')) parts.push(...creditParts(console, id));
    const { status } = found;
    if (kind === 'listing' && typeof status === 'string') {
      const refresh = async () => {
        await console.refresh();
        await show(id);
      };
      parts.push(...saleParts({ ...console, refresh }, id, status));
    }
    find(root, '#found').replaceChildren(...parts);
    say(root, `The ${kind} is shown.`);
  };
  respondTo(form, 'submit', () =>
    work(root, 'Nothing was found.', () => show(findInput(root, '#find-id').value.trim())),
  );
}

function saleParts(console: Console, id: string, status: string): HTMLElement[] {
  const { field, read } = reasonField(`Reason for renters of ${id}`, 'The reason, for creator and renters');
  return [field, element('div', { class: 'links' }, moderationPart(console, { id, status, read }))];
}

function creditParts(console: Console, id: string): HTMLElement[] {
  const { field, read } = reasonField(`Reason of the credit for ${id}`, 'The reason, for the record');
  const button = decisionButton(console, {
    verb: 'Give a free run for',
    subject: id,
    decision: () => ({ action: 'credit', run_id: id, reason: read() }),
  });
  return [field, element('p', { class: 'links' }, button)];
}

/** A part that shows all of a waiting agent, and runs it once on the reviewer's input. */
export function reviewPart({ root, session }: Console, id: string): HTMLElement {
  const task = element('input', { type: 'text', 'aria-label': `Task of a test run of ${id}` });
  const input = element('textarea', { 'aria-label': `Input of a test run of ${id}`, rows: '3' });
  task.value = 'Do your work on this input.';
  input.value = '{}';
  const shown = element('div');
  const open = (
    verb: string,
    testRun: () => { task: string; input: string | Record<string, never> } | undefined,
  ) => {
    const button = buttonOf(verb, () =>
      work(root, 'Nothing is shown.', async () => {
        const run = testRun();
        say(root, `${session.name} asks you to sign the look, which is kept on record. It pays nothing.`);
        const decision = { action: 'review', listing_id: id, ...(run && { test_run: run }) } as const;
        const { sheet, test_run: result } = await decideAsOperator(session.client, session.signer, decision);
        shown.replaceChildren(
          ...(result ? [recordOf(`Test run of ${id}`, result)] : []),
          recordOf(`Agent ${id}`, sheet),
        );
        say(root, result ? `The test run of ${id} has ended.` : `${id} is shown.`);
      }),
    );
    button.setAttribute('aria-label', `${verb} ${id}`);
    return button;
  };
  return element(
    'details',
    {},
    element('summary', {}, 'Look at it, and try it'),
    element(
      'p',
      { class: 'links' },
      open('Show all of', () => undefined),
    ),
    element('label', {}, 'Task', task),
    element('label', {}, 'Input, as JSON', input),
    element(
      'p',
      { class: 'links' },
      open('Run', () => ({ task: task.value, input: JSON.parse(input.value) as string })),
    ),
    shown,
  );
}

function recordOf(label: string, record: unknown): HTMLElement {
  const text = visible(JSON.stringify(record, null, 2), RECORD_CHARACTERS);
  return element('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text);
}
