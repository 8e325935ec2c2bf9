import { createClient, isApiError } from '@agent-rental/sdk';
import {
  approveSpending,
  close,
  createApiKey,
  decideAsOperator,
  pause,
  rent,
  resume,
  rotateWebhookSecret,
  update,
  withdraw,
} from '@agent-rental/sdk/solana';
import type { EventName } from '@agent-rental/contract';
import type { Client } from 'pg';
import { jobEnd, PRICE, textAgent } from '../support/agents/agents.js';
import { newTestApp } from '../support/oauth/app.js';
import type { Participant } from '../support/participant.js';
import { until } from '../support/timing/until.js';
import type { OperatedMarketplace } from '../service/operated-marketplace.js';

const PATIENCE_MS = 30_000;

/** Who takes part in the scenario beside the creator and the operator. */
export interface Cast {
  renter: Participant;
  /** Pays for one run. */
  visitor: Participant;
  /** Of the marketplace. */
  database: Client;
  /** Where no webhook is answered. */
  refusing: string;
}

/** The first 100 events of a wallet. */
export async function eventsOf(participant: Participant) {
  return (await participant.client.listEvents({ limit: 100 })).events;
}

/** Waits until a wallet hears of an event. */
export const hears = (who: Participant, name: EventName) =>
  until(async () => (await eventsOf(who)).some((event) => event.name === name), PATIENCE_MS);

/** Makes each event happen, by the API and the chain wherever that takes seconds and not days. */
export async function playEachEvent(
  market: OperatedMarketplace,
  { renter, visitor, database, refusing }: Cast,
): Promise<void> {
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

  const url = new URL('/agent', model.baseUrl).href;
  const { system_prompt: _, ...connected } = textAgent(url, { entrypoint_url: url });
  const { job_id: connecting } = await creator.client.registerAgent(connected);
  const { result } = await jobEnd(creator.client, connecting);
  await rotateWebhookSecret(creator.client, creator.signer, result?.listing_id ?? '');

  // Days pass, and a fault of the service gives a free run.
  await database.query(`insert into credits (run_id, wallet, listing_id) values ($1, $2, $3)`, [
    runId,
    renter.signer.address,
    agent_id,
  ]);
  for (const failingSince of ['now()', 'null'])
    await database.query(`update listings set failing_since = ${failingSince} where id = $1`, [agent_id]);
  const moveEnd = (left: string | null) =>
    database.query(`update credentials set expires_at = now() + $2::interval where buyer = $1`, [
      renter.signer.address,
      left,
    ]);
  for (const [left, told] of [
    ['6 days', 'rental.expiring'],
    ['-1 hour', 'rental.expired'],
  ] as const) {
    await moveEnd(left);
    // The job tells it, which runs every ten minutes.
    await database.query(`select graphile_worker.add_job('remove_expired')`);
    await hears(renter, told);
  }
  await moveEnd(null);
  await database.query(
    `select graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) from graphile_worker.jobs
      where task_identifier = 'tell_expiring_secret'`,
  );
  const { id: dead } = await renter.client.createWebhook({
    url: `${refusing}/dead`,
    events: ['listing.closed'],
  });
  await database.query(`update webhooks set failing_since = now() - interval '4 days' where id = $1`, [dead]);
  await resume(creator.client, creator.signer, agent_id);
  await close(creator.client, creator.signer, agent_id);
}
