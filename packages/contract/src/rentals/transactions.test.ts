import { describe, expect, test } from 'vitest';
import { transactionProposal, transactionRequest } from '../index.js';

const listing_id = 'invoice-reader-k3x7qa';

describe('a transaction request', () => {
  test.each([
    { action: 'publish' },
    { action: 'publish', listing: { rental_model: 'one_time', price_lamports: 1_000 } },
    { action: 'rent' },
    { action: 'rent', duration_seconds: 2_592_000, max_price_lamports: 0, deposit_lamports: 1 },
    { action: 'renew', duration_seconds: 31_536_000, max_price_lamports: 1 },
    { action: 'topup', amount_lamports: 0 },
    { action: 'reclaim' },
    { action: 'revoke', buyer: '11111111111111111111111111111111' },
    { action: 'update', price_lamports: 1_000, min_deposit_lamports: 0, metadata_uri: 'é'.repeat(100) },
    { action: 'pause' },
    { action: 'resume' },
    { action: 'close' },
    { action: 'withdraw' },
    { action: 'withdraw', amount_lamports: 1 },
  ])('%o', (request) => {
    expect(transactionRequest.parse({ listing_id, ...request })).toEqual({ listing_id, ...request });
  });

  test.each([
    { action: 'revoke' },
    { action: 'revoke', buyer: 'no wallet' },
    { action: 'reclaim', buyer: '11111111111111111111111111111111' },
    { action: 'pause', listing_id: 'no listing' },
    { action: 'pause', status: 'active' },
    { action: 'renew' },
    { action: 'renew', duration_seconds: 2_592_001 },
    { action: 'topup' },
    { action: 'topup', amount_lamports: 0.5 },
    { action: 'topup', amount_lamports: '1' },
    { action: 'withdraw', amount_lamports: 0 },
    { action: 'withdraw', amount_lamports: 2 ** 53 },
    { action: 'update', price_lamports: 999 },
    { action: 'update', price_lamports: 1e15 + 1 },
    { action: 'update', metadata_uri: '' },
    { action: 'update', metadata_uri: 'é'.repeat(101) },
  ])('%o is refused', (request) => {
    expect(transactionRequest.safeParse({ listing_id, ...request }).success).toBe(false);
  });
});

test('a proposal of an older server, without later fields, is still valid', () => {
  const proposal = {
    transaction: '',
    message: 'Rent x',
    chain: 'solana:devnet',
    payer: '1'.repeat(32),
    blockhash: 'x',
    last_valid_block_height: 1,
    sign_within_seconds: 20,
    quote: { price_lamports: 1, rent_lamports: 2, network_fee_lamports: 3 },
  };
  expect(transactionProposal.parse(proposal)).toEqual(proposal);
});
