import { EVENT_NAMES, EVENTS, type EventName } from '@agent-rental/contract';
import { createClient, isApiError } from '@agent-rental/sdk';
import {
  approveSpending,
  close,
  createApiKey,
  decideAsOperator,
  pause,
  rent,
  resume,
  update,
  withdraw,
} from '@agent-rental/sdk/solana';
import { findRunningPostgres } from '@agent-rental/server/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobEnd, PRICE } from '../support/agents/agents.js';
import { newTestApp } from '../support/oauth/app.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { until } from '../support/timing/until.js';
import { startOperatedMarketplace, type OperatedMarketplace } from '../service/operated-marketplace.js';

/** The participant of the scenario that hears of each event. The tests of webhooks have theirs. */
const HEARD_BY: Record<EventName, 'renter' | 'visitor' | 'creator' | 'tests of webhooks'> = {
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
  'webhook.paused': 'tests of webhooks',
  'webhook.test': 'tests of webhooks',
  'listing.approved': 'creator',
  'listing.rejected': 'creator',
  'agent.failing': 'creator',
  'agent.recovered': 'creator',
  'rental.sold': 'creator',
  'earnings.withdrawn': 'creator',
  'review.posted': 'creator',
};

const PATIENCE_MS = 30_000;

let market: OperatedMarketplace;
let database: Client;
let renter: Participant;
/** Pays for one run. */
let visitor: Participant;
beforeAll(async () => {
  market = await startOperatedMarketplace();
  const { marketplace } = market;
  database = new Client({ connectionString: findRunningPostgres(marketplace.stateDir) });
  await database.connect();
  [renter, visitor] = [await newParticipant(marketplace), await newParticipant(marketplace)];
  await play();
}, 240_000);
afterAll(async () => {
  await database?.end();
  await market?.close();
});

/** Makes each event happen, by the API and the chain wherever that takes seconds and not days. */
async function play(): Promise<void> {
  const { creator, operator, model, marketplace } = market;
  const decide = (decision: Parameters<typeof decideAsOperator>[2]) =>
    decideAsOperator(operator.client, operator.signer, decision);
  const { id: refused } = await market.register();
  await decide({ action: 'reject', listing_id: refused, reason: 'It names no output.' });
  model.always('An answer.');
  const agent_id = await market.publish(creator);

  await (await newTestApp(marketplace)).connect(renter);
  await rent(renter.client, renter.signer, agent_id, { deposit_lamports: 10 * PRICE });
  await rent(visitor.client, visitor.signer, agent_id, { deposit_lamports: PRICE });
  const { run_id: runId } = await renter.client.execute({ agent_id, task: 'one' });
  await visitor.client.execute({ agent_id, task: 'one' });
  await renter.client.createReview(agent_id, { rating: 5 });
  model.always(undefined);
  const failed = renter.client.execute({ agent_id, task: 'two' });
  (await model.nextCall()).decline();
  await failed;
  model.always('An answer.');

  const policy = { ask_above_lamports: PRICE - 1 };
  const { key } = await createApiKey(renter.client, renter.signer, 'asks', { policy });
  const asking = createClient({ baseUrl: marketplace.dev.base_url, apiKey: key, retries: 0 });
  const asked = await asking.execute({ agent_id, task: 'three' }).catch((error: unknown) => error);
  if (!isApiError(asked) || !asked.approval) throw new Error('The key did not ask.', { cause: asked });
  const question = await asking.getApproval(asked.approval.id);
  await approveSpending(renter.client, renter.signer, question);

  const { job_id: jobId } = await creator.client.updateAgent(agent_id, {
    description: 'Answers in other words.',
  });
  await jobEnd(creator.client, jobId);
  await hears(renter, 'listing.version_changed');
  await until(async () => {
    const { earnings } = await creator.client.getEarnings();
    return (earnings[0]?.withdrawable_lamports ?? 0) > 0;
  }, PATIENCE_MS);
  await withdraw(creator.client, creator.signer, agent_id);
  await update(creator.client, creator.signer, agent_id, { price_lamports: (PRICE * 4) / 5 });
  await pause(creator.client, creator.signer, agent_id);
  await hears(renter, 'listing.paused');

  // Days pass, and a fault of the service gives a free run.
  await database.query(`insert into credits (run_id, wallet, listing_id) values ($1, $2, $3)`, [
    runId,
    renter.signer.address,
    agent_id,
  ]);
  for (const failingSince of ['now()', 'null'])
    await database.query(`update listings set failing_since = ${failingSince} where id = $1`, [agent_id]);
  for (const left of ['6 days', '-1 hour', null]) {
    await database.query(`update credentials set expires_at = now() + $2::interval where buyer = $1`, [
      renter.signer.address,
      left,
    ]);
    await database.query('select tell_ending_rentals()');
  }
  await resume(creator.client, creator.signer, agent_id);
  await close(creator.client, creator.signer, agent_id);
}

async function eventsOf(participant: Participant) {
  return (await participant.client.listEvents({ limit: 100 })).events;
}
const hears = (who: Participant, name: EventName) =>
  until(async () => (await namesOf(who)).includes(name), PATIENCE_MS);
const namesOf = async (participant: Participant) => (await eventsOf(participant)).map(({ name }) => name);

const TOLD = EVENT_NAMES.filter((name) => HEARD_BY[name] !== 'tests of webhooks');

test.each(TOLD)('%s is told, with its data', async (name) => {
  const { creator } = market;
  const who = { renter, visitor, creator }[HEARD_BY[name] as 'renter'];
  await hears(who, name);
  const told = (await eventsOf(who)).filter((event) => event.name === name);
  for (const { data } of told) expect(EVENTS[name].data.parse(data)).toEqual(data);
});

test('the feed counts the events of each subject from 1, without a gap', async () => {
  for (const who of [renter, visitor, market.creator]) {
    const counts: Record<string, number> = {};
    for (const { subject, sequence } of await eventsOf(who)) {
      counts[subject] = (counts[subject] ?? 0) + 1;
      expect([subject, sequence]).toEqual([subject, counts[subject]]);
    }
  }
});
