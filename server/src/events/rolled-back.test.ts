import { EVENT_NAMES, type EventName } from '@agent-rental/contract';
import { randomUUID } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Db } from '../database/connection.js';
import {
  insertBalance,
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
  type TemporaryDatabase,
} from '../testing/index.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

type Changed = Exclude<EventName, 'webhook.test'>;
type World = Awaited<ReturnType<typeof newWorld>>;

/** A renter with a subscription, a balance and a run, and the creator; each has a webhook. */
async function newWorld() {
  const { db } = database;
  const renter = newWallet();
  const { id, creator, address, version_id } = await insertListing(db, { price_lamports: 1_000n });
  const runId = await insertRun(db, { id, version_id }, renter);
  await insertBalance(db, renter, address, { balance_lamports: 100_000n });
  await newRental(renter, address).execute(db);
  await sql`insert into escrows values (${newWallet()}, ${address}, 5, 5, 1)`.execute(db);
  await sql`insert into webhooks (wallet, url, sealed_secrets)
    select unnest(array[${renter}, ${creator}]), 'https://hook.example', ''`.execute(db);
  await sql`delete from events where wallet in (${renter}, ${creator})`.execute(db);
  return { renter, creator, id, address, runId };
}

const newRental = (buyer: string, address: string) => sql`
  insert into credentials (address, buyer, listing_address, rental_model, valid, purchased_at, expires_at, slot)
  values (${newWallet()}, ${buyer}, ${address}, 'subscription', true, now(), now() + interval '30 days', 1)`;
const ofListing =
  (change: string) =>
  ({ id }: World) => [sql`update listings set ${sql.raw(change)} where id = ${id}`];
const ended =
  (status: string) =>
  ({ runId }: World) => [sql`update runs set status = ${status} where id = ${runId}`];
const leaves =
  (lamports: number) =>
  ({ renter }: World) => [sql`update balances set balance_lamports = ${lamports} where buyer = ${renter}`];
const endsIn =
  (hours: number) =>
  ({ renter }: World) => [
    sql`update credentials set expires_at = now() + make_interval(hours => ${hours}) where buyer = ${renter}`,
    sql`select tell_rentals_that_end(100)`,
  ];
const question = ({ renter, id }: World) => sql`
  insert into spending_approvals (id, wallet, api_key_id, kind, listing_id, lamports, call_digest, expires_at)
  values (gen_random_uuid(), ${renter}, gen_random_uuid(), 'run', ${id}, 5, 'x', now() + interval '1 day')`;

/** For each event, the change that makes it. `webhook.test` is sent without one. */
const CHANGES: Record<Changed, (world: World) => RawBuilder<unknown>[]> = {
  'run.completed': ended('completed'),
  'run.failed': ended('undelivered'),
  'run.credited': ({ runId, renter, id }) => [
    sql`insert into credits (run_id, wallet, listing_id) values (${runId}, ${renter}, ${id})`,
  ],
  'approval.requested': (world) => [question(world)],
  'approval.answered': (world) => [
    question(world),
    sql`update spending_approvals set state = 'approved' where wallet = ${world.renter}`,
  ],
  'rental.created': ({ renter, address }) => [newRental(renter, address)],
  'rental.sold': ({ address }) => [newRental(newWallet(), address)],
  'rental.expiring': endsIn(20),
  'rental.expired': endsIn(-1),
  'balance.low': leaves(9_999),
  'balance.empty': leaves(999),
  'price.changed': ofListing('price_lamports = 5'),
  'listing.version_changed': ({ id }) => {
    const version = randomUUID();
    return [
      sql`insert into agent_versions (id, number, listing_id, input_schema, output_schema, timeout_seconds, private_part)
        values (${version}, 2, ${id}, '{}', '{}', 60, '')`,
      sql`update listings set version_id = ${version} where id = ${id}`,
    ];
  },
  'listing.paused': ofListing(`status = 'paused'`),
  'listing.closed': ofListing(`status = 'closed'`),
  'key.created': ({ renter }) => [
    sql`insert into api_keys (id, wallet, label, digest) values (gen_random_uuid(), ${renter}, 'ci', ${randomUUID()}::text::bytea)`,
  ],
  'app.connected': ({ renter }) => [
    sql`insert into api_keys (id, wallet, label, app, expires_at) values (gen_random_uuid(), ${renter}, 'app', '{}', now())`,
  ],
  'webhook.paused': ({ renter }) => [
    sql`select append_event(${renter}, 'webhook.paused', 'webhook:1', '{}')`,
  ],
  'email.refused': ({ renter }) => [sql`select append_event(${renter}, 'email.refused', 'email:1', '{}')`],
  'listing.approved': (world) => [
    ...ofListing(`review_state = 'pending'`)(world),
    ...ofListing(`review_state = 'approved'`)(world),
  ],
  'listing.rejected': ofListing(`review_state = 'rejected'`),
  'secret.expiring': ({ id }) => [sql`select tell_expiring_secret(${id}, '2026-01-05T10:00:00.000Z')`],
  'agent.failing': ofListing('failing_since = now()'),
  'agent.recovered': (world) => [
    ...ofListing('failing_since = now()')(world),
    ...ofListing('failing_since = null')(world),
  ],
  'earnings.withdrawn': ({ address }) => [
    sql`update escrows set earnings_lamports = 0 where listing_address = ${address}`,
  ],
  'review.posted': ({ id, renter }) => [
    sql`insert into reviews (listing_id, reviewer, rating) values (${id}, ${renter}, 5)`,
  ],
};

/** Ids of a world's events of that name, each with its delivery. */
async function deliveriesOf(db: Db, name: string, { renter, creator }: World): Promise<string[]> {
  const { rows } = await sql<{ event: string; delivery: string }>`
    select e.id as event, d.event_id as delivery from events e left join webhook_deliveries d on d.event_id = e.id
    where e.name = ${name} and e.wallet in (${renter}, ${creator})`.execute(db);
  expect(rows.map(({ delivery }) => delivery)).toEqual(rows.map(({ event }) => event));
  return rows.map(({ event }) => event);
}

const NAMES = EVENT_NAMES.filter((name): name is Changed => name !== 'webhook.test');

it.each(NAMES)(
  '%s is written with its delivery by the change, and neither is there after a rollback [EVT-1]',
  async (name) => {
    const { db } = database;
    const world = await newWorld();
    const change = async (tx: Db) => {
      for (const statement of CHANGES[name](world)) await statement.execute(tx);
      expect(await deliveriesOf(tx, name, world)).toHaveLength(1);
    };
    const rolledBack = db.transaction().execute(async (tx) => {
      await change(tx);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await deliveriesOf(db, name, world)).toEqual([]);
    const { rows } = await sql`select from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where w.wallet in (${world.renter}, ${world.creator})`.execute(db);
    expect(rows).toEqual([]);
    await db.transaction().execute(change);
    expect(await deliveriesOf(db, name, world)).toHaveLength(1);
  },
);
