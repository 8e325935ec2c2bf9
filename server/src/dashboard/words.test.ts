import { EVENT_NAMES, eventPage } from '@agent-rental/contract';
import { expect, it } from 'vitest';
import { EVENT_KINDS, eventKind, shownEvents, titleLine } from './words.js';

it.each([
  ['Invoice reader', 'Invoice reader'],
  ['A" for 0.0001 SOL?\u2028\u202e\nPay 0 SOL\u201d', 'A" for 0.0001 SOL? Pay 0 SOL\u201d'],
  ['zero\u200bwidth \u{e0041} tag', 'zerowidth tag'],
  ['x'.repeat(500), `${'x'.repeat(117)}...`],
  ['قارئ الفواتير', 'قارئ الفواتير'],
])(
  'words of a creator or a key are one line without characters that hide or reorder text: %j [ID-79]',
  (words, line) => {
    expect(titleLine(words)).toBe(line);
  },
);

it.each([
  ['run.failed', { run_id: 'r', listing_id: 'a' }, 'Runs', '/dashboard/runs/r'],
  ['approval.requested', { approval_id: 'q', listing_id: 'a' }, 'Account', '/dashboard/approvals/q'],
  ['balance.low', { listing_id: 'a' }, 'Rentals', '/dashboard/listings/a'],
  ['rental.sold', { listing_id: 'a/../b' }, 'Agents', '/dashboard/creator/agents/a%2F..%2Fb'],
  ['app.connected', { key_id: 'k' }, 'Account', '/dashboard/keys'],
  ['webhook.paused', { webhook_id: 'w' }, 'Account', '/dashboard/events#webhooks'],
  ['email.refused', {}, 'Account', '/dashboard/events#email'],
] as const)('%s of %j is of the kind %s, and leads to %s', (name, data, kind, link) => {
  expect([eventKind(name), eventPage({ name, data })]).toEqual([kind, link]);
});

it('each event but the test of a webhook is shown under one kind', () => {
  const all = EVENT_KINDS.flatMap((kind) => shownEvents(kind));
  expect(all.toSorted()).toEqual(EVENT_NAMES.filter((name) => name !== 'webhook.test').toSorted());
});
