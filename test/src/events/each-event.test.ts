import { EVENT_NAMES, EVENTS, type EventName } from '@agent-rental/contract';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/timing/until.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { startOperatedMarketplace, type OperatedMarketplace } from '../service/operated-marketplace.js';
import { eventsOf, hears, playEachEvent } from './every-event.js';
import { startReceivers, type Receivers } from './receivers.js';

/** The participant of the scenario that hears of each event. The tests of webhooks and e-mail have the others. */
const HEARD_BY: Record<EventName, 'renter' | 'visitor' | 'creator' | 'other tests'> = {
  'run.completed': 'renter',
  'run.failed': 'renter',
  'run.credited': 'renter',
  'approval.requested': 'renter',
  'approval.answered': 'renter',
  'rental.created': 'renter',
  'rental.expiring': 'renter',
  'rental.expired': 'renter',
  'balance.low': 'renter',
  'balance.empty': 'visitor',
  'price.changed': 'renter',
  'listing.version_changed': 'renter',
  'listing.paused': 'renter',
  'listing.closed': 'renter',
  'key.created': 'renter',
  'app.connected': 'renter',
  'webhook.paused': 'renter',
  'webhook.test': 'other tests',
  'email.refused': 'other tests',
  'listing.approved': 'creator',
  'listing.rejected': 'creator',
  'secret.expiring': 'creator',
  'agent.failing': 'creator',
  'agent.recovered': 'creator',
  'rental.sold': 'creator',
  'earnings.withdrawn': 'creator',
  'review.posted': 'creator',
};

const TOLD = EVENT_NAMES.filter((name) => HEARD_BY[name] !== 'other tests');

let market: OperatedMarketplace;
let receivers: Receivers;
let who: Record<'renter' | 'visitor' | 'creator', Participant>;
/** The path of each one's webhook. None is answered before the server was killed. */
const PATHS = { renter: '/hangs', visitor: '/closes', creator: '/closes-too' };
const NAMES = ['renter', 'visitor', 'creator'] as const;

beforeAll(async () => {
  receivers = await startReceivers();
  market = await startOperatedMarketplace([receivers.origin]);
  const { marketplace, creator } = market;
  who = { renter: await newParticipant(marketplace), visitor: await newParticipant(marketplace), creator };
  for (const name of NAMES)
    await who[name].client.createWebhook({ url: `${receivers.origin}${PATHS[name]}` });
  await inDatabase((database) =>
    playEachEvent(market, { ...who, database, refusing: `${receivers.origin}/refuses` }),
  );
  for (const name of TOLD) await hears(who[HEARD_BY[name] as 'renter'], name);
  // The server waits for answers when it is killed.
  const refused = () => receivers.refused[PATHS.renter]?.length ?? 0;
  const refusedBefore = refused();
  await passTime();
  await until(async () => refused() > refusedBefore);
  await market.killAndRestart();
  receivers.take();
  await passTime();
}, 300_000);
afterAll(async () => {
  await market?.close();
  await receivers?.close();
});

async function inDatabase(use: (database: Client) => Promise<unknown>): Promise<void> {
  const database = new Client({ connectionString: findRunningPostgres(market.marketplace.stateDir) });
  await database.connect();
  try {
    await use(database);
  } finally {
    await database.end();
  }
}

/** Lets the waits of webhooks pass, and tries them again. */
async function passTime(): Promise<void> {
  await inDatabase((database) => database.query('update webhook_deliveries set next_attempt_at = now()'));
  for (const { client } of Object.values(who)) {
    for (const { id, paused_at: paused } of (await client.listWebhooks()).webhooks)
      if (paused === undefined) await client.updateWebhook(id, { paused: false });
  }
}

test.each(TOLD)(
  '%s is told, with its data, and delivered after a kill -9 with the id of the feed [EVT-2]',
  async (name) => {
    const heardBy = HEARD_BY[name] as 'renter';
    const told = (await eventsOf(who[heardBy])).filter((event) => event.name === name);
    expect(told).not.toEqual([]);
    for (const { data } of told) expect(EVENTS[name].data.parse(data)).toEqual(data);
    const ids = told.map(({ id }) => id);
    await expect
      .poll(() => receivers.taken[PATHS[heardBy]], { timeout: 30_000 })
      .toEqual(expect.arrayContaining(ids));
  },
);

test.each(NAMES)('the webhook of the %s gets no event that its feed has not', async (name) => {
  const inFeed = (await eventsOf(who[name])).map(({ id }) => id);
  const path = PATHS[name];
  await expect.poll(() => new Set(receivers.taken[path]), { timeout: 30_000 }).toEqual(new Set(inFeed));
  expect(inFeed).toEqual(expect.arrayContaining(receivers.refused[path] ?? []));
});

test('the feed counts the events of each subject from 1, without a gap', async () => {
  for (const participant of Object.values(who)) {
    const counts: Record<string, number> = {};
    for (const { subject, sequence } of await eventsOf(participant)) {
      counts[subject] = (counts[subject] ?? 0) + 1;
      expect([subject, sequence]).toEqual([subject, counts[subject]]);
    }
  }
});
