import type { WebhookAttempt } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import { toWalletEvent, type EventRow } from '../read-events.js';
import { enqueueDeliveries } from './enqueue-deliveries.js';
import { recordBatch, type Ended, type SentWebhook } from './record-batch.js';
import { signingSecrets } from './secrets.js';
import { sendEvent, type Sending } from './send-event.js';

/** Deliveries that are sent at once. */
const BATCH = 10;
/** A server sends a batch within this time. After it another server may. */
const LEASE_MS = 30_000;
/** After this time the job leaves its place to other webhooks, and comes again. */
const TURN_MS = 2_000;

/** The parts of the delivery. */
export interface DeliveryDeps extends Sending {
  db: Db;
  keys: Keys;
}

/** A delivery that this server may send until its lease ends. */
type Claimed = EventRow & { callback_url: string | null; attempts: WebhookAttempt[]; lease: Date };

/**
 * Sends the due deliveries of a webhook, in batches. An address that fails rests, and then gets one delivery until it
 * takes one. Callbacks go to many addresses: none makes the others rest, and the slowest ends its batch of ten.
 */
export async function deliverEvents(deps: DeliveryDeps, webhookId: string): Promise<void> {
  const { db, keys, stopping } = deps;
  const turnEnds = performance.now() + TURN_MS;
  let mayBeMore = true;
  while (mayBeMore && performance.now() < turnEnds && !stopping.aborted) {
    const webhook = await takeWebhook(db, webhookId);
    if (!webhook) break;
    const most = webhook.url !== null && webhook.failures > 0 ? 1 : BATCH;
    const claimed = await claim(db, webhookId, most);
    mayBeMore = claimed.length === most;
    const secrets = signingSecrets(keys, { id: webhookId, sealed: webhook.sealed_secrets });
    const send = async (delivery: Claimed): Promise<Ended> => {
      const url = delivery.callback_url ?? webhook.url ?? '';
      const attempt = await sendEvent({ url, event: toWalletEvent(delivery), secrets }, deps);
      return { ...delivery, attempt };
    };
    await recordBatch(db, webhook, await Promise.all(claimed.map(send)));
  }
  await enqueueDeliveries(db, { webhookId });
}

/** Takes a webhook for this server alone, if it may be sent to now: it rests for others. A failure of long ago is forgotten. */
async function takeWebhook(
  db: Db,
  id: string,
): Promise<(SentWebhook & { sealed_secrets: Buffer }) | undefined> {
  // In between there was nothing to send: the next failure is of another outage.
  const { rows } = await sql<SentWebhook & { sealed_secrets: Buffer }>`
    update webhooks set rests_until = now() + ${LEASE},
      failing_since = case when rests_until >= now() - interval '1 day' then failing_since end
    where id = ${id}::uuid and paused_at is null and rests_until <= now()
    returning id, wallet, url, failures, sealed_secrets`.execute(db);
  return rows[0];
}

/** Takes due deliveries for this server alone, the earliest first. */
async function claim(db: Db, webhookId: string, limit: number): Promise<Claimed[]> {
  // In milliseconds, as a date of JavaScript has it: the lease is compared later.
  const { rows } = await sql<Claimed>`
    with due as materialized (
      select event_id from webhook_deliveries
      where webhook_id = ${webhookId}::uuid and status = 'pending' and next_attempt_at <= now()
      order by next_attempt_at limit ${limit} for update skip locked
    )
    update webhook_deliveries d set next_attempt_at = date_trunc('milliseconds', now() + ${LEASE})
    from due join events e on e.id = due.event_id
    where d.webhook_id = ${webhookId}::uuid and d.event_id = due.event_id
    returning e.id, e.name, e.subject, e.sequence, e.data, e.created_at, d.callback_url, d.attempts,
      d.next_attempt_at as lease`.execute(db);
  return rows;
}

const LEASE = sql`make_interval(secs => ${LEASE_MS / 1_000})`;
