/** The numbers of listings and runs in a seeded database. */
export interface HistorySize {
  /** At most a million; no fewer than a twentieth of `runs`. */
  readonly listings: number;
  /** Four of five are charged; there is a rental for every second one. */
  readonly runs: number;
}

/** Newer than any slot of a chain: the index takes these rows for newer than the chain's, and leaves them alone. */
const SLOT = '9000000000000000';

/** SQL for a base58 address made from a number, the same on every machine. */
const key = (kind: string, number: string) => `seed_key('${kind}', ${number})`;
const uuid = (kind: string, number: string) => `md5('${kind}' || (${number}))::uuid`;
const bytes = (kind: string, number: string) =>
  `decode(md5('${kind}' || (${number})) || md5((${number}) || '${kind}'), 'hex')`;
const listingId = (number: string) =>
  `'seeded-' || translate(lpad((${number})::text, 6, '0'), '0189', 'abcd')`;
/** A word that a few listings share. */
const word = (number: string) =>
  `translate(left(md5('word' || (${number}) % 5000), 8), '0123456789', 'ghijklmnop')`;

/** The statements that fill a database, in their order. No trigger of the service may run meanwhile. */
export function historySteps(
  { listings, runs }: HistorySize,
  busyWallet: string,
): { name: string; statements: string[] }[] {
  const wallets = Math.max(100, Math.ceil(runs / 50));
  const some = Math.ceil(runs / 20);
  const rentals = Math.ceil(runs / 2);
  const batches = Math.ceil(runs / 100);
  const isBusy = (number: string) => `(${number}) % 10 = 0`;
  const wallet = (number: string) =>
    `case when ${isBusy(number)} then '${busyWallet}' else ${key('wallet', `(${number}) % ${wallets}`)} end`;
  /** Of a rental: each wallet has it for listings that differ. */
  const rented = `(case when ${isBusy('i')} then i / 10 else i % ${wallets} + i / ${wallets} end) % ${listings}`;
  const model = (number: string) =>
    `(array['per_query', 'one_time', 'subscription'])[1 + (${number}) / 7 % 3]`;
  const ranListing = `(i * 7919::bigint) % ${listings}`;
  const each = (count: number) => `from generate_series(0::bigint, ${count - 1}) i`;
  // Most of it is old, a seventh is of the last day.
  const at = `now() - interval '300 days' * power((${runs} - i)::float8 / ${runs}, 3)`;
  const insert = (table: string, columns: string, count: number, values: string, where = '') =>
    `insert into ${table} (${columns}) select ${values} ${each(count)} ${where}`;
  /** As the triggers write them. They have a position already, like all old events. */
  const events = (from: string, values: string) =>
    `insert into events (wallet, name, subject, data, sequence, position) select ${values}, 1, row_number() over () from ${from}`;

  return [
    {
      name: 'functions',
      statements: [
        `create function seed_key(kind text, i bigint) returns text language sql immutable parallel safe as $$
          select 'A' || left(translate(md5(kind || i) || md5(i || kind), '0', 'z'), 42) $$`,
      ],
    },
    {
      name: 'listings',
      statements: [
        `insert into creators (wallet) values ('${busyWallet}') on conflict do nothing`,
        insert('creators', 'wallet', Math.ceil(listings / 10), key('creator', 'i')),
        insert(
          'listings',
          `id, creator, title, description, category, rental_model, price_lamports, min_deposit_lamports, status, address,
            metadata_uri, sample_output, version_id, review_state, approved_version_id, published_at, rating_sum,
            review_count, ranked_rating_sum, ranked_review_count, slot, operator_runs_per_minute`,
          listings,
          `${listingId('i')}, case when i % 20 = 0 then '${busyWallet}' else ${key('creator', `i % ${Math.ceil(listings / 10)}`)} end,
          ${word('i')} || ' ' || ${word('i * 3 + 1')}, ${word('i * 5')} || ' ' || ${word('i * 7')} || ' report.',
          array[(array['finance', 'legal', 'coding', 'research', 'sales', 'content'])[1 + i % 6]], ${model('i')},
          (1 + i % 900) * 10000, 0, (case when i % 50 = 7 then 'draft' when i % 50 = 8 then 'paused' else 'active' end),
          ${key('listing', 'i')}, 'ipfs://seeded' || i, '["An example."]', ${uuid('version', 'i')},
          (case when i % 500 = 7 then 'pending' else 'approved' end), ${uuid('version', 'i')},
          (case when i % 50 <> 7 then now() - interval '1 minute' * (${listings} - i) end), i % 5 * (i % 40), i % 40, i % 5 * (i % 40), i % 40,
          (case when i % 50 = 7 then 0 else ${SLOT} end), (case when i % 1000 = 9 then 30 end)`,
        ),
        insert(
          'agent_versions',
          'id, listing_id, number, input_schema, output_schema, timeout_seconds, private_part',
          listings,
          `${uuid('version', 'i')}, ${listingId('i')}, 1, '{}', '{"type": "string"}', 60, '\\x00'`,
        ),
        insert('agent_contacts', 'version_id, reached_at', listings, `${uuid('version', 'i')}, now()`),
        insert(
          'content_blocks',
          'cid, bytes',
          listings,
          `(${uuid('content', 'i')})::text, ${bytes('content', 'i')}`,
        ),
        insert(
          'escrows',
          'address, listing_address, earnings_lamports, total_earned_lamports, slot',
          listings,
          `${key('escrow', 'i')}, ${key('listing', 'i')}, 1000, 2000, ${SLOT}`,
        ),
        `insert into creator_earnings (creator, listing_count, earned_lamports, withdrawable_lamports)
          select creator, count(*), sum(total_earned_lamports), sum(earnings_lamports)
          from listings join escrows on escrows.listing_address = listings.address
          where listings.id like 'seeded-%' and status <> 'draft' group by creator`,
        insert(
          'reviews',
          'listing_id, reviewer, rating',
          listings * 2,
          `${listingId(`i % ${listings}`)}, ${key('wallet', 'i')}, 1 + i % 5`,
        ),
        events(
          'reviews join listings on listings.id = listing_id',
          `creator, 'review.posted', 'review:' || listing_id || ':' || reviewer, jsonb_build_object('listing_id', listing_id, 'rating', rating)`,
        ),
        insert(
          'registration_jobs',
          'id, wallet, status, listing_id',
          listings,
          `${uuid('job', 'i')}, ${key('creator', 'i / 10')}, (case when i % 10 = 0 then 'failed' else 'completed' end), ${listingId('i')}`,
        ),
        insert('sample_runs', 'wallet, created_at', listings, `${key('creator', 'i / 10')}, now()`),
        insert(
          'listing_health',
          'listing_id, due_at, checked_at',
          listings,
          `${listingId('i')}, now() + interval '1 hour' + interval '1 day' * ((i % 1000) / 1000.0), now() - interval '1 day' * ((i % 1000) / 1000.0)`,
          `where i % 50 <> 7`,
        ),
        insert(
          'listing_stats',
          'listing_id, grain, started_at, measure, detail, amount',
          listings * 6,
          `${listingId(`i % ${listings}`)}, (array['hour', 'day'])[1 + i / ${listings} % 2],
          (case when i / ${listings} % 2 = 0 then date_trunc('hour', now() - interval '1 hour' * (i / ${listings}), 'UTC')
            else date_trunc('day', now() - interval '1 day' * (i / ${listings}), 'UTC') end), (array['completed', 'duration', 'failed'])[1 + i % 3],
          (array['', '78', 'timed_out'])[1 + i % 3], 1 + i % 40`,
        ),
        insert(
          'renter_stats',
          'owner, started_at, listing_id, completed, failed, undelivered, spent_lamports',
          listings,
          `${key('wallet', 'i')}, date_trunc('day', now() - interval '1 day' * (i % 30), 'UTC'), ${listingId('i')}, 1 + i % 40, i % 3, 0, i`,
        ),
        insert('probe_requests', 'wallet, created_at', listings, `${key('creator', 'i / 10')}, now()`),
        insert(
          'listing_readmes',
          'listing_id, sha256, html',
          listings,
          `${listingId('i')}, '\\x00', '<p>A text.</p>'`,
        ),
        insert('agent_probes', 'listing_id, reached_at', listings, `${listingId('i')}, now()`),
        insert(
          'operator_actions',
          'action, subject, reason, operator',
          listings,
          `(array['limit', 'approve', 'take-down'])[1 + i % 3], ${listingId('i')}, 'A reason.', ${key('admin', '0')}`,
        ),
        insert(
          'listing_reports',
          'id, listing_id, wallet, reason, text, closed_at',
          listings,
          `${uuid('report', 'i')}, ${listingId('i')}, ${key('wallet', 'i')}, 'other', '', (case when i % 100 <> 1 then now() end)`,
        ),
        `select rebuild_listing_search()`,
      ],
    },
    {
      name: 'wallets',
      statements: [
        insert(
          'used_challenges',
          'digest, expires_at',
          some,
          `${bytes('challenge', 'i')}, now() + interval '1 hour'`,
        ),
        insert(
          'api_keys',
          'id, wallet, label, digest',
          some,
          `${uuid('key', 'i')}, ${key('wallet', 'i')}, 'seeded', ${bytes('key', 'i')}`,
        ),
        // Half as many wallets have connected an app.
        insert(
          'api_keys',
          'id, wallet, label, app, expires_at',
          Math.ceil(some / 2),
          `${uuid('app', 'i')}, ${key('wallet', 'i')}, 'seeded', '{"client":"c","redirect_host":"h","resource":"r"}',
          now() + interval '10 days'`,
        ),
        insert(
          'oauth_tokens',
          'digest, api_key_id, client_digest, kind, scopes, expires_at',
          Math.ceil(some / 2),
          `${bytes('refresh', 'i')}, ${uuid('app', 'i')}, ${bytes('client', 'i')}, 'refresh', '{run,rent}', now() + interval '10 days'`,
        ),
        insert(
          'oauth_codes',
          'digest, api_key_id, client_digest, redirect_uri, code_challenge, expires_at, used_at',
          Math.ceil(some / 2),
          `${bytes('code', 'i')}, ${uuid('app', 'i')}, ${bytes('client', 'i')}, 'https://app.example/', '', now(), now()`,
        ),
        insert(
          'api_key_spends',
          'id, api_key_id, kind, lamports',
          some,
          `'spend' || i, ${uuid('key', 'i')}, 'run', 1000`,
        ),
        insert(
          'spending_approvals',
          'id, wallet, api_key_id, kind, listing_id, lamports, call_digest, expires_at',
          some,
          `${uuid('approval', 'i')}, ${key('wallet', 'i')}, ${uuid('key', 'i')}, 'run', ${listingId('i')}, 1000,
          ${bytes('call', 'i')}, now() + interval '1 hour'`,
        ),
        insert('cancelled_keys', 'wallet, idempotency_key', some, `${key('wallet', 'i')}, 'cancelled' || i`),
        insert(
          'files',
          'id, wallet, media_type, size_bytes, is_complete, expires_at',
          some,
          `${uuid('file', 'i')}, ${key('wallet', 'i')}, 'text/plain', 1, true, now() + interval '1 day'`,
        ),
        insert('file_parts', 'file_id, position, sealed', some, `${uuid('file', 'i')}, 0, '\\x00'`),
        insert(
          'email_addresses',
          'wallet, sealed_address, unsubscribe_digest, confirmed_at',
          some,
          `${key('wallet', 'i')}, '\\x00', ${bytes('unsubscribe', 'i')}, now()`,
        ),
        insert(
          'email_confirmations',
          'wallet, address_digest, sent_at',
          some,
          `${key('wallet', 'i')}, ${bytes('email', 'i')}, now() - interval '1 second' * i`,
        ),
        insert('event_settings', 'wallet, low_balance_runs', some, `${key('wallet', 'i')}, 10`),
        insert('unfinalized_accounts', 'address, slot', some, `${key('unfinalized', 'i')}, ${SLOT}`),
      ],
    },
    {
      name: 'rentals',
      statements: [
        insert(
          'credentials',
          'address, buyer, listing_address, rental_model, valid, purchased_at, expires_at, slot',
          rentals,
          `${key('credential', 'i')}, ${wallet('i')}, ${key('listing', rented)}, ${model(rented)}, true,
          now() - interval '1 second' * i, (case when ${model(rented)} = 'subscription' then now() + interval '30 days' end), ${SLOT}`,
        ),
        ...['buyer', 'creator'].map((wallet) =>
          events(
            'credentials join listings on listings.address = listing_address',
            `${wallet}, ${wallet === 'buyer' ? `'rental.created', 'rental:'` : `'rental.sold', 'sale:'`} || credentials.address,
            jsonb_build_object('credential', credentials.address, 'listing_id', listings.id, 'rental_model', credentials.rental_model)`,
          ),
        ),
        insert(
          'balances',
          `address, buyer, listing_address, balance_lamports, max_price_lamports, highest_sequence, window_bits, slot`,
          rentals,
          `${key('balance', 'i')}, ${wallet('i')}, ${key('listing', rented)}, 1000000000, 1000000000, 0,
          decode(repeat('00', 32), 'hex'), ${SLOT}`,
          `where ${model(rented)} = 'per_query'`,
        ),
        insert(
          'version_pins',
          'wallet, listing_id, version',
          rentals,
          `${wallet('i')}, ${listingId(rented)}, 1`,
          'on conflict do nothing',
        ),
      ],
    },
    {
      name: 'runs',
      statements: [
        insert(
          'runs',
          `id, listing_id, version_id, wallet, status, idempotency_key, request_digest, cost_lamports, duration_ms, output,
            created_at, finished_at, waiters, salt, input_digest, output_digest`,
          runs,
          `${uuid('run', 'i')}, ${listingId(ranListing)}, ${uuid('version', ranListing)}, ${wallet('i')},
          (case when i % 100 = 99 then 'running' when i % 50 = 1 then 'undelivered' when i % 12 = 5 then 'failed' else 'completed' end),
          (case when i % 3 = 0 then 'key' || i end), ${bytes('request', 'i')}, 250000, 900,
          (case when i > ${runs} * 0.9 and i % 100 <> 99 and i % 50 <> 1 then '\\x00'::bytea end),
          ${at}, (case when i % 100 <> 99 then ${at} + interval '1 second' end), (i % 100 = 99)::integer,
          ${bytes('salt', 'i')}, ${bytes('input', 'i')}, ${bytes('output', 'i')}`,
        ),
        insert(
          'trials',
          'wallet, listing_id, run_id, taken_at',
          runs,
          `${wallet('i')}, ${listingId(ranListing)}, ${uuid('run', 'i')}, ${at}`,
          `where i % 20 = 3 on conflict do nothing`,
        ),
        `insert into kept_results select 'wallet', wallet, 0 from runs group by wallet on conflict do nothing`,
        `insert into kept_results select 'listing', id, 0 from listings on conflict do nothing`,
        // Half of what runs has a slot, the other half waits for one.
        insert(
          'seats',
          'run_id, listing_id, wallet, expires_at',
          runs,
          `${uuid('run', 'i')}, ${listingId(ranListing)}, ${wallet('i')}, now() + interval '1 day'`,
          `where i % 200 = 99`,
        ),
        insert(
          'seat_line',
          'run_id, listing_id, wallet, is_priority, turn, expires_at',
          runs,
          `${uuid('run', 'i')}, ${listingId(ranListing)}, ${wallet('i')}, false, 1, now() + interval '1 day'`,
          `where i % 200 = 199`,
        ),
      ],
    },
    {
      name: 'charges',
      statements: [
        insert(
          'charges',
          `run_id, wallet, listing_id, balance_address, price_lamports, sequence, state, created_at, updated_at, next_attempt_at,
            attempts, failure_code, confirmed_at`,
          runs,
          `${uuid('run', 'i')}, ${wallet('i')}, ${listingId(ranListing)}, ${key('charged', `i % ${wallets}`)}, 250000, i,
          (case when i % 50 = 1 then 'credited' when i % 200 = 2 then 'failed' else 'finalized' end), ${at}, ${at}, ${at}, 1,
          (case when i % 200 = 2 then 6003 end), (case when i % 200 <> 2 then ${at} end)`,
          `where i % 5 <> 0 and i % 100 <> 99`,
        ),
        insert(
          'charge_signatures',
          'signature, run_id, signed_bytes, last_valid_block_height, created_at',
          runs,
          // As with every charge that is final.
          `'signature' || i, ${uuid('run', 'i')}, (case when i % 200 = 2 then ${bytes('signed', 'i')} end), 1, ${at}`,
          `where i % 5 <> 0 and i % 100 <> 99`,
        ),
        insert(
          'credits',
          'run_id, wallet, listing_id, used_by_run_id, created_at',
          runs,
          `${uuid('run', 'i')}, ${wallet('i')}, ${listingId(ranListing)}, (case when i % 100 = 1 then ${uuid('run', 'i - 1')} end), ${at}`,
          `where i % 50 = 1`,
        ),
        insert(
          'payments',
          'signature, protocol, challenge_id, wallet, listing_id, price_lamports, lamports, units, identifier, state, is_final, last_valid_block_height, created_at, updated_at',
          some,
          `'payment' || i, (case when i % 2 = 1 then 'x402' else 'mpp' end), 'challenge' || i, ${wallet('i')}, ${listingId(ranListing)}, 250000, 6000000, (case when i % 2 = 1 then 900000 end), (case when i % 4 = 1 then 'pay_' || i end), (case when i % 50 = 1 then 'failed' else 'funded' end), true, 1, ${at}, ${at}`,
        ),
      ],
    },
    {
      name: 'run log',
      statements: [
        insert(
          'run_log_entries',
          'run_id, batch, leaf_index',
          runs,
          `${uuid('run', 'i')}, 1 + i / 100, i % 100`,
          // A server that runs meanwhile may have logged runs already.
          `where i % 5 = 0 on conflict do nothing`,
        ),
        insert(
          'run_log_batches',
          'number, leaf_count, previous_root, root, nodes, created_at, signature',
          batches,
          `1 + i, 20, ${bytes('root', 'i')}, ${bytes('root', 'i + 1')}, ${bytes('root', 'i + 1')}, now() - interval '1 day', 'batch' || i`,
          'on conflict do nothing',
        ),
        insert(
          'run_log_signatures',
          'signature, batch, signed_bytes, last_valid_block_height',
          batches,
          `'batch' || i, 1 + i, '\\x00', 1`,
        ),
      ],
    },
    {
      name: 'webhooks',
      statements: [
        // They hear of nothing new, and nothing waits for them.
        insert(
          'webhooks',
          'id, wallet, url, events, sealed_secrets',
          some,
          `${uuid('webhook', 'i')}, ${key('wallet', 'i')}, 'https://webhook.invalid/', '{webhook.test}', '\\x00'`,
        ),
        `insert into webhook_deliveries (webhook_id, event_id, status, created_at)
          select md5('webhook' || row_number() over () % ${some})::uuid, id, 'delivered', created_at from events`,
        insert(
          'a2a_contexts',
          'run_id, context_id',
          runs,
          `${uuid('run', 'i')}, 'context'`,
          `where i % 10 = 2`,
        ),
        insert(
          'run_callbacks',
          'run_id, url',
          runs,
          `${uuid('run', 'i')}, 'https://webhook.invalid/'`,
          `where i % 10 = 1`,
        ),
      ],
    },
    { name: 'end', statements: ['drop function seed_key'] },
  ];
}
