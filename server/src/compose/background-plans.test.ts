import { PublicKey } from '@solana/web3.js';
import { sql, type Insertable } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCredentialRepository } from '../credentials/index.js';
import type { Database } from '../database/schema.js';
import { createRunLogRepository } from '../run-log/repository.js';
import { deliverEvents } from '../events/webhooks/deliver.js';
import { enqueueDeliveries } from '../events/webhooks/enqueue-deliveries.js';
import { newSecret } from '../events/webhooks/secrets.js';
import { migrateJobs } from '../jobs/jobs.js';
import { deriveKeys } from '../platform/keys.js';
import {
  createTellByEmail,
  removeOldConfirmations,
  removeOldEvents,
  tellEndingRentals,
} from '../events/index.js';
import { createOperationsRepository } from '../operations/repository.js';
import { createPaymentRepository, removeFailedPayments } from '../pay-per-call/index.js';
import { createHealthRepository } from '../registration/index.js';
import { createRunRepository, removeExpired, removeOldSpending, removeOldStats } from '../runs/index.js';
import {
  createChargeRepository,
  createChargeStates,
  createCredits,
  createOwnCharges,
  createReconciler,
} from '../settlement/index.js';
import { insertListing, newWallet, openTestDatabase, type TemporaryDatabase } from '../testing/index.js';

/** Enough for a scan to cost more than an index. */
const RUNS = 20_000;
/** Tables that grow with the history of a market. */
const GROWING = [
  'runs',
  'charges',
  'charge_signatures',
  'credits',
  'payments',
  'balances',
  'run_log_entries',
  'run_log_batches',
  'files',
  'cancelled_keys',
  'listing_stats',
  'renter_stats',
  'listing_health',
  'events',
  'webhooks',
  'webhook_deliveries',
  'run_callbacks',
  'email_addresses',
  'email_confirmations',
];

const ADDRESSES = Array.from({ length: 500 }, () => newWallet());

let database: TemporaryDatabase;
let listing: Insertable<Database['listings']>;
let runId: string;
const keys = deriveKeys(new Uint8Array(32));
/** Of the webhook `webhook 1`. */
const webhookId = '581b298b-c540-e158-be2a-fde8f16433f6';
const statements = new Map<string, unknown[]>();

beforeAll(async () => {
  database = await openTestDatabase();
  await migrateJobs(database.pool);
  listing = await insertListing(database.db);
  await seed();
  ({ id: runId } = await database.db.selectFrom('runs').select('id').limit(1).executeTakeFirstOrThrow());
  database.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...call: unknown[]) => unknown;
    client.query = ((...call: unknown[]) => {
      const [asked, values] = call as [string | { text: string; values?: unknown[] }, unknown[] | undefined];
      const text = typeof asked === 'string' ? asked : asked.text;
      statements.set(text, (typeof asked === 'string' ? values : (asked.values ?? values)) ?? []);
      return query(...call);
    }) as typeof client.query;
  });
  // Connections from here on are watched.
  await Promise.all(
    Array.from({ length: database.pool.totalCount }, async () =>
      (await database.pool.connect()).release(true),
    ),
  );
});
afterAll(() => database.close());

/** A history without open runs, like most of a real history. */
async function seed(): Promise<void> {
  const { db } = database;
  await sql`
    insert into runs (id, listing_id, version_id, wallet, status, request_digest, finished_at, created_at)
    select md5('run ' || n)::uuid, ${listing.id}, ${listing.version_id}, 'wallet ' || n % 500,
      case when n % 20 = 0 then 'undelivered' else 'completed' end, '', now() - interval '2 days',
      now() - interval '2 days'
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into charges (run_id, wallet, listing_id, balance_address, price_lamports, sequence, state)
    select id, wallet, listing_id, (${ADDRESSES}::text[])[1 + abs(hashtext(wallet)) % 500], 1, row_number() over (),
      case when status = 'undelivered' then 'credited' else 'finalized' end
    from runs`.execute(db);
  await sql`
    insert into charge_signatures (signature, run_id, signed_bytes, last_valid_block_height)
    select 'signature ' || run_id, run_id, '', 1 from charges`.execute(db);
  await sql`
    insert into credits (run_id, wallet, listing_id, used_by_run_id, created_at)
    select run_id, wallet, listing_id, run_id, now() - interval '2 days' from charges where state = 'credited'`.execute(
    db,
  );
  await sql`
    insert into payments (signature, protocol, challenge_id, wallet, listing_id, price_lamports, lamports, state, is_final,
      last_valid_block_height, updated_at)
    select 'payment ' || n, 'mpp', n::text, 'wallet ' || n % 500, 'listing', 1, 1,
      case when n % 50 = 0 then 'failed' else 'funded' end, true, 1, now() - interval '2 days'
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into run_log_entries (run_id, batch, leaf_index) select run_id, 1, 1 from charges`.execute(db);
  await sql`
    insert into run_log_batches (number, leaf_count, previous_root, root, nodes, created_at, signature)
    select n, 1, '', '', '', now() - make_interval(mins => ${RUNS + 1} - n), n::text
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into files (id, wallet, media_type, is_complete, expires_at)
    select gen_random_uuid(), 'wallet', 'text/plain', true, now() + interval '1 day'
    from generate_series(1, ${RUNS}::integer)`.execute(db);
  await sql`
    insert into cancelled_keys (wallet, idempotency_key)
    select 'wallet', n::text from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into listing_stats (listing_id, grain, started_at, measure, detail, amount)
    select 'listing ' || n, 'day', date_trunc('day', now(), 'UTC') - (n % 30) * interval '1 day', 'completed', '', 1
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into renter_stats (owner, started_at, listing_id, completed, failed, undelivered, spent_lamports)
    select 'owner ' || n, date_trunc('day', now(), 'UTC') - (n % 30) * interval '1 day', 'listing', 1, 0, 0, 1
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into events (wallet, name, subject, sequence, data)
    select 'wallet ' || n % 500, 'run.completed', 'run:' || n, 1, '{}'
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into webhooks (id, wallet, url, sealed_secrets)
    select md5('webhook ' || n)::uuid, 'wallet ' || n % 5000, 'https://webhook.invalid/', ${newSecret(keys, webhookId).sealed}
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into webhook_deliveries (webhook_id, event_id, status, next_attempt_at)
    select w.id, e.id, case when w.id = ${webhookId}::uuid then 'pending' else 'delivered' end, now()
    from (select id from webhooks order by id <> ${webhookId}::uuid limit 500) w cross join (select id from events limit 40) e`.execute(
    db,
  );
  await sql`insert into run_callbacks (run_id, url) select id, 'https://webhook.invalid/' from runs`.execute(
    db,
  );
  await sql`
    insert into email_addresses (wallet, sealed_address, unsubscribe_digest, confirmed_at, told_until)
    select 'wallet ' || n, '', n::text::bytea, case when n < 100 then now() end, ${2n ** 60n}
    from generate_series(1, ${RUNS}::integer) as n`.execute(db);
  await sql`
    insert into email_confirmations (wallet, address_digest, sent_at)
    select 'wallet ' || n, n::text::bytea, now() - n * interval '1 second' from generate_series(1, ${RUNS}::integer) as n`.execute(
    db,
  );
  await sql`alter table listing_health drop constraint listing_health_listing_id_fkey`.execute(db);
  await sql`
    insert into listing_health (listing_id, due_at)
    select 'listing ' || n, now() + n * interval '1 second' from generate_series(1, ${RUNS}::integer) as n`.execute(
    db,
  );
  // As when the last of them was settled a while ago.
  await sql`delete from undelivered_runs`.execute(db);
  await sql`analyze`.execute(db);
}

/** The statements of the background work in a round of each of its parts. */
async function work(): Promise<void> {
  const { db } = database;
  const idle = {} as never;
  const charges = createChargeRepository(db);
  const reconciler = createReconciler({
    chain: idle,
    charges,
    states: createChargeStates(db, { unfinalizedCapLamports: 1n }),
    credits: createCredits(db),
    signer: idle,
    indexer: idle,
    runs: idle,
    logger: pino({ level: 'silent' }),
  });
  await reconciler.reconcile('all');
  await charges.runsWaiting([runId]);
  const log = createRunLogRepository(db, { intervalSeconds: 60 });
  await log.isBatchDue();
  await log.head();
  await log.takeOpen();
  const index = createCredentialRepository(db);
  await index.readCursor('program');
  await index.unfinalizedUpTo(1n);
  await createOwnCharges(db, PublicKey.default)([`signature ${runId}`]);
  await createRunRepository(db, idle).markInterrupted(60_000);
  await createPaymentRepository(db).takeDue(100);
  await removeFailedPayments(db);
  await removeExpired(db);
  await removeOldStats(db);
  await removeOldSpending(db);
  await removeOldEvents(db);
  await tellEndingRentals(db);
  await createOperationsRepository(db).deliveriesWaiting();
  await enqueueDeliveries(db, 'all');
  await enqueueDeliveries(db, { wallets: ['wallet 1', 'wallet 2'] });
  const outbound = { fetch: () => Promise.reject(new Error('down')) };
  await deliverEvents({ db, keys, outbound, stopping: new AbortController().signal }, [webhookId]);
  await removeOldConfirmations(db);
  const email = createTellByEmail({ db, keys: idle, mailer: idle, baseUrl: () => '' });
  await email.queueDue();
  await email.tell('wallet 1');
  await createHealthRepository(db, async () => undefined).queueDue(40);
}

it('no statement of the background work scans a table that grows', async () => {
  await work();
  expect(statements.size).toBeGreaterThan(15);
  const scans: string[] = [];
  for (const [text, values] of statements) {
    if (!/^\s*(select|insert|update|delete|with)\b/i.test(text)) continue;
    const { rows } = await database.pool.query<{ 'QUERY PLAN': unknown }>(
      `explain (format json) ${text}`,
      values,
    );
    const plan = JSON.stringify(rows[0]?.['QUERY PLAN']);
    for (const [, table = ''] of plan.matchAll(/"Node Type":"Seq Scan"[^{}]*?"Relation Name":"(\w+)"/g)) {
      if (GROWING.includes(table)) scans.push(`${table}: ${text}`);
    }
  }
  expect(scans).toEqual([]);
});
