import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from 'kysely';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { SEALED_PLACES } from './key-commands.js';

/** Columns of unsealed bytes, by their content. */
const NOT_SEALED = {
  hashes: [
    'api_keys.digest',
    'email_addresses.confirm_digest',
    'email_addresses.unsubscribe_digest',
    'email_confirmations.address_digest',
    'key_checks.value',
    'listing_readmes.sha256',
    'oauth_codes.client_digest',
    'oauth_codes.digest',
    'oauth_tokens.client_digest',
    'oauth_tokens.digest',
    'run_log_batches.nodes',
    'run_log_batches.previous_root',
    'run_log_batches.root',
    'runs.input_digest',
    'runs.output_digest',
    'runs.request_digest',
    'spending_approvals.call_digest',
    'used_challenges.digest',
  ],
  'public values': [
    'balances.window_bits',
    'charge_signatures.signed_bytes',
    'payments.signed_bytes',
    'payments.transfer_bytes',
    'content_blocks.bytes',
    'listings.icon',
    'run_log_signatures.signed_bytes',
    'service_keys.public_key',
  ],
  'random, and of no use alone': ['oauth_tokens.salt'],
  'shown to its wallet': ['runs.salt'],
};

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

it('reseal and the change of the master key know every column with sealed bytes [OPS-105]', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea' order by 1`.execute(database.db);
  const sealed = SEALED_PLACES.map(({ table, column }) => `${table}.${column}`);
  const known = [...sealed, ...Object.values(NOT_SEALED).flat()];
  expect(rows.map(({ name }) => name)).toEqual(known.toSorted());
});
