import { expect, it } from 'vitest';
import { inWordsOfCli, writtenFault } from './words.js';

it.each([
  [
    'Send another key with PUT /v1/listings/:id/model-key.',
    'Send another key with "agent-rental update --model-key".',
  ],
  [
    "Give it the listing's webhook secret, which POST /v1/listings/:id/webhook-secret replaces.",
    'Give it the listing\'s webhook secret, which "agent-rental rotate-secret" replaces.',
  ],
  ['Register an agent with POST /v1/agents.', 'Register an agent with "agent-rental publish".'],
  ['Send its manifest with PATCH /v1/agents/:listing_id.', 'Send its manifest with "agent-rental update".'],
  ['Rent it with POST /v1/transactions.', '"agent-rental rent" rents it.'],
  [
    'Correct it and publish again; or publish with "unverified": true, and renters are told that.',
    'Correct it and publish again; or "agent-rental publish --unverified" publishes it, and renters are told that.',
  ],
  ['The earnings are 1500000 lamports.', 'The earnings are 0.0015 SOL.'],
])('says %j in commands and SOL', (text, words) => {
  expect(inWordsOfCli(text)).toBe(words);
});

it('leaves the lamports of agent.json beside their SOL', () => {
  const fault = { path: 'listing.price_lamports', message: 'is at least 1000 lamports' };
  expect(writtenFault(fault)).toBe('listing.price_lamports is at least 1000 lamports (0.000001 SOL)');
});
