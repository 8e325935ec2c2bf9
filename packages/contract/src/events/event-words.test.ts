import { expect, it } from 'vitest';
import { eventWords } from './event-words.js';
import { EVENT_NAMES, EVENTS } from './events.js';

const DATA = {
  run_id: '0198c0de-5a1e-4f00-8000-000000000001',
  listing_id: 'invoice-reader-k3x7qa',
  approval_id: '0198c0de-5a1e-4f00-8000-000000000002',
  webhook_id: '0198c0de-5a1e-4f00-8000-000000000003',
  key_id: '0198c0de-5a1e-4f00-8000-000000000004',
  credential: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  rental_model: 'one_time',
  label: 'ci\n!',
  scopes: ['run'],
  kind: 'run',
  state: 'approved',
  lamports: 2_000_000,
  balance_lamports: 4_000_000,
  price_lamports: 5_000_000,
  previous_price_lamports: 6_000_000,
  expires_at: '2026-01-05T10:00:00.000Z',
  failing_since: '2026-01-05T10:00:00.000Z',
  days: 7,
  version: 3,
  breaking: true,
  rating: 4,
};
const clean = (text: string) => text.replaceAll('\n', ' ');

it.each(EVENT_NAMES)('%s is one sentence for people, with amounts in SOL', (name) => {
  const status = name === 'run.completed' ? 'completed' : 'failed';
  const data = EVENTS[name].data.parse({ ...DATA, status });
  const words = eventWords({ name, data }, 'Invoice\nreader', clean);
  expect(words).toMatch(/^[A-Z][^\n]*\.$/);
  expect(words).not.toMatch(/undefined|lamports|NaN|\d{7}/);
  const hasAmount = Object.keys(data).some((field) => field.endsWith('lamports'));
  expect(/SOL|no more run/.test(words)).toBe(hasAmount);
  expect(words.includes('Invoice reader')).toBe('listing_id' in data);
  expect(eventWords({ name, data }, undefined, clean).includes('an agent')).toBe('listing_id' in data);
});

it('tells amounts, days and versions', () => {
  const words = (name: (typeof EVENT_NAMES)[number], data: object) =>
    eventWords({ name, data: { ...DATA, ...data } }, 'A', clean);
  expect(words('price.changed', {})).toBe('The price of A changed from 0.006 SOL to 0.005 SOL.');
  expect(words('rental.expiring', { days: 1 })).toBe('Your subscription of A ends within 1 day.');
  expect(words('listing.version_changed', { breaking: false })).toBe('A has version 3.');
  expect(words('key.created', {})).toBe('Your wallet has a new API key: ci !.');
});
